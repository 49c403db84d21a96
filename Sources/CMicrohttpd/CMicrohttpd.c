#include "CMicrohttpd.h"

#if !__has_include(<microhttpd.h>)
#error "libmicrohttpd is missing: scripts/setup installs all that is needed, or apt-get install libmicrohttpd-dev"
#endif
#include <microhttpd.h>

#include "CLinux.h"

#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FUNCTIONS(X) \
    X(MHD_get_version) \
    X(MHD_start_daemon) \
    X(MHD_stop_daemon) \
    X(MHD_get_connection_info) \
    X(MHD_get_connection_values) \
    X(MHD_create_response_from_buffer) \
    X(MHD_create_response_from_callback) \
    X(MHD_add_response_header) \
    X(MHD_queue_response) \
    X(MHD_destroy_response) \
    X(MHD_suspend_connection) \
    X(MHD_resume_connection)

#define POINTER(name) __typeof__(name) *name;
static struct {
    FUNCTIONS(POINTER)
} lib;

static const char *refusal;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define ENTRY(name) {#name, (void **)&lib.name},
static void load(void) {
    static const struct late_function functions[] = {FUNCTIONS(ENTRY)};
    refusal = late_load("libmicrohttpd.so.12", functions, sizeof functions / sizeof *functions);
}

const char *web_load(void) {
    pthread_once(&once, load);
    return refusal;
}

const char *web_loaded_version(void) { return lib.MHD_get_version(); }

struct server {
    struct MHD_Daemon *daemon;
    struct web_calls calls;
};

/* One request, from its first line to the end of its answer. */
struct request {
    char *target;
    char *body;
    size_t size;
    int begun;
};

int web_descriptor(void *connection) {
    const union MHD_ConnectionInfo *info =
        lib.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/* Without this, the library would print the errors of clients. */
static void unheard(void *context, const char *format, va_list arguments) {
    (void)context;
    (void)format;
    (void)arguments;
}

/* Keeps the address before the library changes it; freed at the end of the request. */
static void *target_came(void *context, const char *target, struct MHD_Connection *connection) {
    (void)context;
    (void)connection;
    struct request *request = calloc(1, sizeof *request);
    if (request && !(request->target = strdup(target))) {
        free(request);
        return NULL;
    }
    return request;
}

/* Whether a body can be accepted; a body without an announced length never is. */
static int is_short(struct server *server, struct MHD_Connection *connection) {
    if (web_header_count(connection, "Transfer-Encoding") > 0) return 0;
    if (web_header_count(connection, "Content-Length") == 0) return 1;
    if (web_header_count(connection, "Content-Length") > 1) return 0;
    const char *length = web_header(connection, "Content-Length");
    return length && strtoull(length, NULL, 10) <= server->calls.body_bytes;
}

static enum MHD_Result name_seen(
    void *context, enum MHD_ValueKind kind, const char *name, const char *value
) {
    static const char marks[] = "!#$%&'*+-.^_`|~";
    int *is_plain = context;
    (void)kind;
    (void)value;
    for (const char *at = name; *at; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9')
              || strchr(marks, *at)))
            *is_plain = 0;
    if (!*name) *is_plain = 0;
    return MHD_YES;
}

/* Whether every program reads the same headers (RFC 9112, 5.1 and 6.1): a name with a space behind it
   is one header to some and another one to others, and so are two lengths of a body. */
static int is_unambiguous(struct MHD_Connection *connection) {
    int is_plain = 1;
    lib.MHD_get_connection_values(connection, MHD_HEADER_KIND, name_seen, &is_plain);
    return is_plain
        && (web_header_count(connection, "Transfer-Encoding") == 0
            || web_header_count(connection, "Content-Length") == 0);
}

static enum MHD_Result request_came(
    void *context, struct MHD_Connection *connection, const char *address, const char *method,
    const char *version, const char *body, size_t *body_size, void **own
) {
    struct server *server = context;
    struct request *request = *own;
    (void)address;
    (void)version;
    if (!request) return MHD_NO;
    /* Called with the head, then with each piece of the body, then once more. */
    if (!request->begun) {
        request->begun = 1;
        if (!is_unambiguous(connection)) {
            static const char *const headers[] = {"Connection", "close", NULL};
            return web_answer(connection, 400, headers, "", 0) ? MHD_YES : MHD_NO;
        }
        if (strcmp(method, "POST") == 0 && is_short(server, connection)) {
            request->body = malloc(server->calls.body_bytes + 1);
            return request->body ? MHD_YES : MHD_NO;
        }
    } else if (*body_size > 0) {
        if (*body_size > server->calls.body_bytes - request->size) return MHD_NO;
        memcpy(request->body + request->size, body, *body_size);
        request->size += *body_size;
        *body_size = 0;
        return MHD_YES;
    }
    return server->calls.requested(
               server->calls.context, connection, method, request->target, request->body,
               request->size
           )
               ? MHD_YES
               : MHD_NO;
}

static void request_ended(
    void *context, struct MHD_Connection *connection, void **own,
    enum MHD_RequestTerminationCode code
) {
    struct server *server = context;
    struct request *request = *own;
    (void)code;
    if (request) {
        free(request->target);
        free(request->body);
        free(request);
    }
    *own = NULL;
    server->calls.finished(server->calls.context, web_descriptor(connection));
}

static void connection_changed(
    void *context, struct MHD_Connection *connection, void **own,
    enum MHD_ConnectionNotificationCode code
) {
    struct server *server = context;
    int descriptor = web_descriptor(connection);
    (void)own;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        server->calls.opened(server->calls.context, descriptor);
    else
        server->calls.closed(server->calls.context, descriptor);
}

void *web_begin(
    int listener, unsigned connections, size_t memory, unsigned seconds,
    const struct web_calls *calls
) {
    /* A server runs for months: its threads share one heap, and large blocks, such as pages and lists
       of vehicles, are returned to the system as soon as they are freed. */
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    struct server *server = calloc(1, sizeof *server);
    if (!server) return NULL;
    server->calls = *calls;
    server->daemon = lib.MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG,
        0, NULL, NULL, request_came, server,
        MHD_OPTION_EXTERNAL_LOGGER, unheard, NULL,
        MHD_OPTION_LISTEN_SOCKET, listener,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
        MHD_OPTION_CONNECTION_TIMEOUT, seconds,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, target_came, server,
        MHD_OPTION_NOTIFY_COMPLETED, request_ended, server,
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, server,
        MHD_OPTION_END
    );
    if (server->daemon) return server;
    free(server);
    return NULL;
}

void web_end(void *pointer) {
    struct server *server = pointer;
    lib.MHD_stop_daemon(server->daemon);
    free(server);
}

struct search {
    const char *name;
    const char *value;
    int count;
};

static enum MHD_Result header_found(
    void *context, enum MHD_ValueKind kind, const char *name, const char *value
) {
    struct search *search = context;
    (void)kind;
    if (strcasecmp(name, search->name) != 0) return MHD_YES;
    if (search->count == 0) search->value = value;
    search->count += 1;
    return MHD_YES;
}

static struct search headers_named(void *connection, const char *name) {
    struct search search = {name, NULL, 0};
    lib.MHD_get_connection_values(connection, MHD_HEADER_KIND, header_found, &search);
    return search;
}

int web_header_count(void *connection, const char *name) {
    return headers_named(connection, name).count;
}

const char *web_header(void *connection, const char *name) {
    return headers_named(connection, name).value;
}

static int queue(
    void *connection, unsigned status, const char *const *headers, struct MHD_Response *response
) {
    if (!response) return 0;
    for (; headers[0]; headers += 2) lib.MHD_add_response_header(response, headers[0], headers[1]);
    enum MHD_Result result = lib.MHD_queue_response(connection, status, response);
    lib.MHD_destroy_response(response);
    return result == MHD_YES;
}

int web_answer(
    void *connection, unsigned status, const char *const *headers, const void *bytes, size_t count
) {
    return queue(
        connection, status, headers,
        lib.MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY)
    );
}

struct stream {
    void *connection;
    struct web_source source;
};

static ssize_t stream_read(void *context, uint64_t position, char *bytes, size_t count) {
    struct stream *stream = context;
    (void)position;
    ssize_t written = stream->source.read(stream->source.context, stream->connection, bytes, count);
    return written < 0 ? MHD_CONTENT_READER_END_OF_STREAM : written;
}

static void stream_release(void *context) {
    struct stream *stream = context;
    stream->source.release(stream->source.context);
    free(stream);
}

int web_stream(
    void *connection, unsigned status, const char *const *headers, const struct web_source *source
) {
    struct stream *stream = calloc(1, sizeof *stream);
    struct MHD_Response *response = NULL;
    if (stream) {
        stream->connection = connection;
        stream->source = *source;
        response = lib.MHD_create_response_from_callback(
            MHD_SIZE_UNKNOWN, 1024, stream_read, stream, stream_release
        );
    }
    if (response) return queue(connection, status, headers, response);
    free(stream);
    source->release(source->context);
    return 0;
}

void web_suspend(void *connection) { lib.MHD_suspend_connection(connection); }
void web_resume(void *connection) { lib.MHD_resume_connection(connection); }
