#pragma once
#if !__has_include(<curl/curl.h>)
#error "libcurl is missing: scripts/setup installs all that is needed, or apt-get install libcurl4-openssl-dev"
#endif
#include <curl/curl.h>

/* The distribution's libcurl, loaded into the process only when a file is downloaded.

   If it were linked, every command would load it and the thirty libraries that it needs. Each
   function here calls libcurl's function of a similar name with a fixed number of arguments; none
   may be called before curl_load has returned NULL. */

/* Loads and starts the library, once; returns NULL, or the reason for a failure. Any thread may
   call it. */
const char *curl_load(void);

const char *curl_loaded_version(void);

CURL *curl_easy_begin(void);
void curl_easy_end(CURL *easy);
/* Resets a handle, but keeps its connections. */
void curl_easy_renew(CURL *easy);
CURLcode curl_easy_set_long(CURL *easy, CURLoption option, long value);
CURLcode curl_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value);
CURLcode curl_easy_set_text(CURL *easy, CURLoption option, const char *value);
CURLcode curl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
CURLcode curl_easy_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode curl_easy_set_bytes(CURL *easy, CURLoption option, const void *bytes, size_t count);
CURLcode curl_easy_set_taker(
    CURL *easy, CURLoption option, size_t (*taker)(char *bytes, size_t size, size_t count, void *)
);
CURLcode curl_easy_info_long(CURL *easy, CURLINFO info, long *value);
CURLcode curl_easy_info_offset(CURL *easy, CURLINFO info, curl_off_t *value);
/* The returned value belongs to the handle and is valid until its next transfer. */
CURLcode curl_easy_info_text(CURL *easy, CURLINFO info, const char **value);
CURLcode curl_easy_info_pointer(CURL *easy, void **value);
/* Continues a transfer that its taker has paused. */
CURLcode curl_easy_go_on(CURL *easy);
const char *curl_easy_words(CURLcode code);

struct curl_slist *curl_list_append(struct curl_slist *list, const char *text);
void curl_list_free(struct curl_slist *list);

CURLM *curl_multi_begin(void);
CURLMcode curl_multi_end(CURLM *multi);
CURLMcode curl_multi_add(CURLM *multi, CURL *easy);
CURLMcode curl_multi_remove(CURLM *multi, CURL *easy);
CURLMcode curl_multi_go(CURLM *multi, int *running);
CURLMcode curl_multi_wait_for(CURLM *multi, int milliseconds);
/* The only function that another thread may call while the library is working. */
CURLMcode curl_multi_wake(CURLM *multi);
CURLMcode curl_multi_set_long(CURLM *multi, CURLMoption option, long value);
/* The next transfer that ended, with its code; NULL when there is none. */
CURL *curl_multi_ended(CURLM *multi, CURLcode *code);
