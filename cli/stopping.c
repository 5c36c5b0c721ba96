/* See stopping.h. */
#include "stopping.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stopped;
static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
enum { STOPPING = sizeof stopping / sizeof *stopping };
static struct sigaction before[STOPPING];

static void stop(int signal_number)
{
    stopped = signal_number;
    stopping_end();
}

void stopping_begin(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < STOPPING; i++) {
        sigaction(stopping[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(stopping[i], &action, NULL);
    }
}

bool stopping_asked(void)
{
    return stopped != 0;
}

void stopping_end(void)
{
    for (int i = 0; i < STOPPING; i++) sigaction(stopping[i], &before[i], NULL);
}
