#include <curl/curl.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct job { char name[128], digest[65]; };
struct sink { int file; EVP_MD_CTX *hash; };

static struct job *jobs;
static int count;
static atomic_int next, failures;
static const char *base, *out;

static size_t take(char *bytes, size_t one, size_t many, void *context) {
    struct sink *sink = context;
    size_t left = one * many;
    EVP_DigestUpdate(sink->hash, bytes, left);
    while (left > 0) {
        ssize_t done = write(sink->file, bytes, left);
        if (done <= 0) return 0;
        bytes += done;
        left -= done;
    }
    return one * many;
}

static int bring(CURL *curl, const struct job *job) {
    char url[512], folder[512], part[600], name[600], text[65];
    unsigned char digest[32];
    snprintf(url, sizeof url, "%s/%s", base, job->name);
    snprintf(folder, sizeof folder, "%s/%.2s", out, job->digest);
    snprintf(part, sizeof part, "%s/%s.part", folder, job->digest);
    snprintf(name, sizeof name, "%s/%s", folder, job->digest);
    mkdir(folder, 0700);
    struct sink sink = {open(part, O_WRONLY | O_CREAT | O_EXCL, 0600), EVP_MD_CTX_new()};
    if (sink.file < 0) return 1;
    EVP_DigestInit_ex(sink.hash, EVP_sha256(), NULL);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
    int failed = curl_easy_perform(curl) != CURLE_OK;
    EVP_DigestFinal_ex(sink.hash, digest, NULL);
    EVP_MD_CTX_free(sink.hash);
    for (int i = 0; i < 32; i++) sprintf(text + 2 * i, "%02x", digest[i]);
    failed |= strcmp(text, job->digest) != 0 || fchmod(sink.file, 0444) || fsync(sink.file);
    close(sink.file);
    failed |= rename(part, name) != 0;
    int parent = open(folder, O_RDONLY | O_DIRECTORY);
    failed |= fsync(parent) != 0;
    close(parent);
    return failed;
}

static void *work(void *unused) {
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 524288L);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    for (int i; (i = atomic_fetch_add(&next, 1)) < count;) {
        if (bring(curl, &jobs[i])) atomic_fetch_add(&failures, 1);
    }
    curl_easy_cleanup(curl);
    return unused;
}

/* fetcher BASE FOLDER CONNECTIONS LIST: LIST is the output of sha256sum. */
int main(int argc, char **argv) {
    if (argc != 5) return 1;
    base = argv[1];
    out = argv[2];
    FILE *list = fopen(argv[4], "r");
    struct job job;
    while (list && fscanf(list, "%64s %127s", job.digest, job.name) == 2) {
        jobs = realloc(jobs, (count + 1) * sizeof job);
        jobs[count++] = job;
    }
    curl_global_init(CURL_GLOBAL_ALL);
    mkdir(out, 0700);
    int threads = atoi(argv[3]);
    pthread_t all[64];
    for (int i = 0; i < threads; i++) pthread_create(&all[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    return failures != 0 || count == 0;
}
