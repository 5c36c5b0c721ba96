/* legosketch report: results of the lab as one page. */
#include "report.h"

#include "legosketch.h"
#include "options.h"
#include "output.h"
#include "say.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *output, *references;
    bool quiet;
} given;

static const option_entry options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", &given.output, "write the page here; required"},
    {"reference", 'r', OPTION_TEXT, "DIR", &given.references,
     "folder with the published figures, synthetic.json and real_peers.json, to show beside ours"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "do not say what was written"},
    {0},
};

/* Results in the order of their views, and what could not be read. */
typedef struct findings {
    cJSON *results;
    text notices;
} findings;

/* The JSON in a file, or NULL after `why` says what is wrong with it. */
static cJSON *read_json(const char *path, char *why, size_t size)
{
    text content = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    int error = file < 0 ? errno : text_read(&content, file, REPORT_FILE_MOST);
    cJSON *parsed = NULL;
    if (content.size >= REPORT_FILE_MOST) snprintf(why, size, "is too large");
    else if (error != 0) snprintf(why, size, "cannot be read: %s", strerror(error));
    else if (content.size == 0 || (parsed = cJSON_ParseWithLength(content.bytes, content.size)) == NULL)
        snprintf(why, size, content.size == 0 ? "is empty" : "is damaged: it is not JSON");
    if (file >= 0) close(file);
    text_free(&content);
    return parsed;
}

static const view *view_of(const cJSON *result)
{
    return report_first(report_text(result, "experiment"));
}

static bool is_result(const cJSON *parsed)
{
    return view_of(parsed) != NULL && cJSON_IsArray(report_get(parsed, "rows"));
}

static void read_result(findings *found, const char *path)
{
    char why[256] = "is not a result of 'legosketch lab'";
    cJSON *parsed = read_json(path, why, sizeof why);
    if (is_result(parsed) && cJSON_AddItemToArray(found->results, parsed)) return;
    cJSON_Delete(parsed);
    say("%s %s: left out", path, why);
    page_put(&found->notices, "<p class=warning>Left out: ", path, " ");
    page_put(&found->notices, "", why, "</p>\n");
}

/* Results in the order of their views: those of each go to the end, one view after another. */
static void sort_results(cJSON *results)
{
    for (const view *what = report_views; what->experiment != NULL; what++) {
        cJSON *result = results->child, *next;
        for (int left = cJSON_GetArraySize(results); left > 0; left--, result = next) {
            next = result->next;
            if (view_of(result) == what) cJSON_AddItemToArray(results, cJSON_DetachItemViaPointer(results, result));
        }
    }
}

static int ends_in_json(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 5, ".json") == 0;
}

static bool read_folder(findings *found, const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, ends_in_json, alphasort);
    if (count < 0)
        return say("cannot read the folder %s: %s%s", folder, strerror(errno),
                   errno == ENOENT ? "; 'legosketch lab all --quick' makes results" : "");
    bool apart = true;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name) < (int)sizeof path) {
            apart = apart && output_check(given.output, path);
            if (apart) read_result(found, path);
        }
        free(names[i]);
    }
    free(names);
    if (!apart) return false;
    sort_results(found->results);
    return cJSON_GetArraySize(found->results) > 0 ||
           say("%s has no results; 'legosketch lab all --quick -o %s' makes some", folder, folder);
}

/* {"synthetic": ..., "real_peers": ...} of the files that are there; NULL after saying that there is neither. */
static cJSON *read_references(const char *folder)
{
    static const char *const names[] = {"synthetic", "real_peers"};
    cJSON *all = cJSON_CreateObject();
    for (size_t i = 0; i < 2 && all != NULL; i++) {
        char path[PATH_MAX], why[256] = "";
        snprintf(path, sizeof path, "%.4000s/%s.json", folder, names[i]);
        cJSON *parsed = read_json(path, why, sizeof why);
        if (parsed == NULL) say("%s %s: no published figures from there", path, why);
        else if (!cJSON_AddItemToObject(all, names[i], parsed)) cJSON_Delete(parsed);
    }
    if (cJSON_GetArraySize(all) > 0) return all;
    cJSON_Delete(all);
    say("--reference %s: there are no published figures", folder);
    return NULL;
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

static bool make_page(text *page, const findings *found, const cJSON *references, int *plots)
{
    const cJSON *result;
    page_begin(page, cJSON_GetArraySize(found->results));
    text_print(page, "<nav>");
    cJSON_ArrayForEach(result, found->results)
    {
        const char *name = report_text(result, "experiment");
        text_print(page, "<a href=\"#%s\">%s</a>", name, name);
    }
    text_print(page, "</nav>\n");
    if (found->notices.size > 0) text_bytes(page, found->notices.bytes, found->notices.size);
    bool ok = true;
    cJSON_ArrayForEach(result, found->results) ok = ok && page_result(page, result, references, plots);
    text_print(page, "</html>\n");
    return ok && (!page->failed || say_no_memory());
}

static lego_status save_page(const void *what, lego_write write, void *context)
{
    const text *page = what;
    return write(context, page->bytes, page->size) == 0 ? LEGO_OK : LEGO_ERR_WRITE;
}

static int run(int count, char **operands)
{
    if (count > 1) return options_wrong(&command_report, "'%s': it takes one folder of results", operands[1]);
    if (given.output == NULL)
        return options_wrong(&command_report, "--output FILE is missing: where should the page go?");
    if (!output_check(given.output, NULL)) return EXIT_FAILED;
    findings found = {.results = cJSON_CreateArray()};
    cJSON *references = NULL;
    text page = {0};
    int plots = 0;
    bool ok = found.results != NULL ? read_folder(&found, count > 0 ? operands[0] : "lab-results") : say_no_memory();
    if (ok && given.references != NULL) ok = (references = read_references(given.references)) != NULL;
    ok = ok && make_page(&page, &found, references, &plots) && output_file(given.output, save_page, &page);
    if (ok && !given.quiet)
        say("wrote %s: experiments %d, plots %d", given.output, cJSON_GetArraySize(found.results), plots);
    ok = ok && found.notices.size == 0; /* the page is there, but not all of it */
    text_free(&page);
    text_free(&found.notices);
    cJSON_Delete(references);
    cJSON_Delete(found.results);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_report = {
    .name = "report",
    .summary = "make a page of what the lab measured",
    .synopsis = "-o FILE [OPTION...] [DIR]",
    .text = "Writes one HTML page with tables and plots of the results in DIR (lab-results), each\n"
            "with the command and the commit it comes from. The page needs no network and no\n"
            "script, and is fit for phones, dark screens and paper. Plots are drawn by gnuplot:\n"
            "apt-get install gnuplot-nox. A file in DIR that is damaged is named and left out.",
    .examples = "  legosketch lab all --quick words.txt\n"
                "  legosketch report -o report.html\n"
                "  legosketch report -o report.html --reference reference results\n",
    .options = options,
    .run = run,
};
