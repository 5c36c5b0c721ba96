/* tracer [-c FILE] [-f NUMBER] [-o NUMBER] [-k K | -w K | -s K | -e ERRNO -k K [-p]] [-n] PROGRAM [ARGUMENT...]
 *
 * Runs a program and counts its system calls, those of all threads together. It is for tests/test_kills.py, which would
 * need ten times as long with strace.
 *   -f NUMBER counts from the first call of that number on
 *   -o NUMBER counts calls of that number only
 *   -c FILE   writes the number of each call that is counted to FILE, one a line
 *   -k K      kills the program instead of its K-th call, as kill -9 does
 *   -w K      kills it when half of the K-th call, which writes, is done
 *   -s K      makes the K-th call, which reads or writes, do half of what it was asked
 *   -e ERRNO  does not kill: the K-th call fails with that error, and with -p all later ones that write do too
 *   -n        files without a name (O_TMPFILE) are refused, as on other file systems
 *
 * It exits as the program did, or with 128 and the signal that ended it, or with 99 where a program may not be traced.
 *
 * The kernel stops the program at each call, by a filter (seccomp(2)) that asks for just that. Calls of other processes
 * that the program starts are not counted. Both run on one core, which makes it fast and threads nearly predictable. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_TRACING = 99, SIGNALLED = 128, SYSCALL_STOP = SIGTRAP | 0x80 };

static struct {
    FILE *list;
    long from, only, at;
    int error;
    bool halve, kill, persist, names_alone;
} given = {.from = -1, .only = -1, .kill = true};

static pid_t program;
static bool begun; /* the first call that counts was there */
static long calls;

static void stay_on_one_core(void)
{
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET((size_t)sched_getcpu(), &core);
    sched_setaffinity(0, sizeof core, &core);
}

static void become(char **command)
{
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)};
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(NO_TRACING);
    raise(SIGSTOP); /* until it has been said what to stop at */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(NO_TRACING);
    execv(command[0], command);
    _exit(NO_TRACING);
}

static bool writes(const struct user_regs_struct *call)
{
    return call->orig_rax == SYS_write || call->orig_rax == SYS_writev || call->orig_rax == SYS_pwrite64;
}

static bool wants_no_name(const struct user_regs_struct *call)
{
    unsigned long long flags = call->orig_rax == SYS_open ? call->rsi : call->rdx;
    return (call->orig_rax == SYS_open || call->orig_rax == SYS_openat) && (flags & O_TMPFILE) == O_TMPFILE;
}

/* What a call returns that is not made, or that was. */
static void fail(pid_t thread, struct user_regs_struct *call, int error)
{
    call->orig_rax = (unsigned long long)-1;
    call->rax = (unsigned long long)-error;
    ptrace(PTRACE_SETREGS, thread, NULL, call);
}

/* The call that was asked for is killed, failed or cut. Whether the program is to stop again when it is done. */
static bool meddle(pid_t thread, struct user_regs_struct *call)
{
    if (given.halve) {
        call->rdx = (call->rdx + 1) / 2;
        ptrace(PTRACE_SETREGS, thread, NULL, call);
        return given.kill;
    }
    if (given.error == 0) kill(program, SIGKILL);
    else if (call->orig_rax == SYS_close) return true; /* the file is closed then as well */
    else fail(thread, call, given.error);
    return false;
}

/* A call is about to begin. Whether the program is to stop again when it is done. */
static bool begin_call(pid_t thread)
{
    struct user_regs_struct call;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &call) != 0) return false; /* it was killed meanwhile */
    if (syscall(SYS_tgkill, program, thread, 0) != 0) return false;     /* of another process */
    long number = (long)call.orig_rax;
    begun = begun || given.from < 0 || number == given.from;
    bool counts = begun && (given.only < 0 || number == given.only);
    calls += counts;
    if (given.list != NULL && counts) fprintf(given.list, "%ld\n", number);
    if (counts && calls == given.at) return meddle(thread, &call);
    bool later = given.persist && given.at > 0 && calls >= given.at;
    if (later && writes(&call) && call.rdi > STDERR_FILENO) fail(thread, &call, given.error);
    else if (given.names_alone && wants_no_name(&call)) fail(thread, &call, EOPNOTSUPP);
    return false;
}

/* The call is done that was meddled with. */
static void end_call(pid_t thread)
{
    struct user_regs_struct call;
    if (given.error == 0) kill(program, SIGKILL);
    else if (ptrace(PTRACE_GETREGS, thread, NULL, &call) == 0) fail(thread, &call, given.error);
}

/* Lets a thread go on that has stopped. */
static void answer(pid_t thread, int status)
{
    int event = status >> 16, number = WSTOPSIG(status);
    bool again = event == PTRACE_EVENT_SECCOMP && begin_call(thread);
    if (number == SYSCALL_STOP) end_call(thread);
    bool sent = event == 0 && number != SYSCALL_STOP && number != SIGSTOP; /* with SIGSTOP a new thread begins */
    ptrace(again ? PTRACE_SYSCALL : PTRACE_CONT, thread, NULL, sent ? number : 0);
}

/* Until the program ends; its status. */
static int trace(void)
{
    int status = 0;
    if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status)) return status;
    ptrace(PTRACE_SETOPTIONS, program, NULL,
           PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
               PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    for (pid_t thread = program; thread > 0; thread = waitpid(-1, &status, __WALL)) {
        if (WIFSTOPPED(status)) answer(thread, status);
        else if (thread == program) break;
    }
    return status;
}

static bool read_options(int count, char **values)
{
    for (int letter; (letter = getopt(count, values, "+c:f:o:k:w:s:e:pn")) != -1;) {
        if (letter == 'c' && (given.list = fopen(optarg, "we")) == NULL) return false;
        if (letter == 'f') given.from = atol(optarg);
        if (letter == 'o') given.only = atol(optarg);
        if (letter == 'k' || letter == 'w' || letter == 's') given.at = atol(optarg);
        if (letter == 'w' || letter == 's') given.halve = true;
        if (letter == 's') given.kill = false;
        if (letter == 'e') given.error = atoi(optarg);
        if (letter == 'p') given.persist = true;
        if (letter == 'n') given.names_alone = true;
        if (letter == '?') return false;
    }
    return optind < count;
}

int main(int count, char **values)
{
    if (!read_options(count, values)) return NO_TRACING;
    stay_on_one_core();
    program = fork();
    if (program < 0) return NO_TRACING;
    if (program == 0) become(values + optind);
    int status = trace();
    if (given.list != NULL && fclose(given.list) != 0) return NO_TRACING;
    return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}
