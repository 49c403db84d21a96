#include "CCurl.h"

#include "CLinux.h"

#include <pthread.h>

/* The header's macros check the types of variadic calls, and do not work with these pointers. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define FUNCTIONS(X) \
    X(curl_global_init) \
    X(curl_version) \
    X(curl_easy_init) \
    X(curl_easy_cleanup) \
    X(curl_easy_reset) \
    X(curl_easy_setopt) \
    X(curl_easy_getinfo) \
    X(curl_easy_pause) \
    X(curl_easy_strerror) \
    X(curl_slist_append) \
    X(curl_slist_free_all) \
    X(curl_multi_init) \
    X(curl_multi_cleanup) \
    X(curl_multi_add_handle) \
    X(curl_multi_remove_handle) \
    X(curl_multi_perform) \
    X(curl_multi_poll) \
    X(curl_multi_wakeup) \
    X(curl_multi_setopt) \
    X(curl_multi_info_read)

#define POINTER(name) __typeof__(name) *name;
static struct {
    FUNCTIONS(POINTER)
} lib;

static const char *refusal;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define ENTRY(name) {#name, (void **)&lib.name},
static void load(void) {
    static const struct late_function functions[] = {FUNCTIONS(ENTRY)};
    refusal = late_load("libcurl.so.4", functions, sizeof functions / sizeof *functions);
    if (!refusal && lib.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) refusal = "libcurl does not start";
}

const char *curl_load(void) {
    pthread_once(&once, load);
    return refusal;
}

const char *curl_loaded_version(void) { return lib.curl_version(); }

CURL *curl_easy_begin(void) { return lib.curl_easy_init(); }
void curl_easy_end(CURL *easy) { lib.curl_easy_cleanup(easy); }
void curl_easy_renew(CURL *easy) { lib.curl_easy_reset(easy); }

CURLcode curl_easy_set_long(CURL *easy, CURLoption option, long value) {
    return lib.curl_easy_setopt(easy, option, value);
}

CURLcode curl_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return lib.curl_easy_setopt(easy, option, value);
}

CURLcode curl_easy_set_text(CURL *easy, CURLoption option, const char *value) {
    return lib.curl_easy_setopt(easy, option, value);
}

CURLcode curl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return lib.curl_easy_setopt(easy, option, value);
}

CURLcode curl_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return lib.curl_easy_setopt(easy, option, value);
}

CURLcode curl_easy_set_bytes(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return lib.curl_easy_setopt(easy, option, &blob);
}

CURLcode curl_easy_set_taker(
    CURL *easy, CURLoption option, size_t (*taker)(char *, size_t, size_t, void *)
) {
    return lib.curl_easy_setopt(easy, option, taker);
}

CURLcode curl_easy_info_long(CURL *easy, CURLINFO info, long *value) {
    return lib.curl_easy_getinfo(easy, info, value);
}

CURLcode curl_easy_info_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return lib.curl_easy_getinfo(easy, info, value);
}

CURLcode curl_easy_info_text(CURL *easy, CURLINFO info, const char **value) {
    return lib.curl_easy_getinfo(easy, info, value);
}

CURLcode curl_easy_info_pointer(CURL *easy, void **value) {
    return lib.curl_easy_getinfo(easy, CURLINFO_PRIVATE, value);
}

CURLcode curl_easy_go_on(CURL *easy) { return lib.curl_easy_pause(easy, CURLPAUSE_CONT); }
const char *curl_easy_words(CURLcode code) { return lib.curl_easy_strerror(code); }

struct curl_slist *curl_list_append(struct curl_slist *list, const char *text) {
    return lib.curl_slist_append(list, text);
}

void curl_list_free(struct curl_slist *list) { lib.curl_slist_free_all(list); }

CURLM *curl_multi_begin(void) { return lib.curl_multi_init(); }
CURLMcode curl_multi_end(CURLM *multi) { return lib.curl_multi_cleanup(multi); }
CURLMcode curl_multi_add(CURLM *multi, CURL *easy) { return lib.curl_multi_add_handle(multi, easy); }

CURLMcode curl_multi_remove(CURLM *multi, CURL *easy) {
    return lib.curl_multi_remove_handle(multi, easy);
}

CURLMcode curl_multi_go(CURLM *multi, int *running) {
    return lib.curl_multi_perform(multi, running);
}

CURLMcode curl_multi_wait_for(CURLM *multi, int milliseconds) {
    return lib.curl_multi_poll(multi, NULL, 0, milliseconds, NULL);
}

CURLMcode curl_multi_wake(CURLM *multi) { return lib.curl_multi_wakeup(multi); }

CURLMcode curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return lib.curl_multi_setopt(multi, option, value);
}

CURL *curl_multi_ended(CURLM *multi, CURLcode *code) {
    for (;;) {
        int left;
        CURLMsg *message = lib.curl_multi_info_read(multi, &left);
        if (!message) return NULL;
        if (message->msg != CURLMSG_DONE) continue;
        *code = message->data.result;
        return message->easy_handle;
    }
}
