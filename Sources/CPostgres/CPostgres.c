#include "CPostgres.h"

#include "CLinux.h"

#include <pthread.h>

typedef void (*receiver)(void *, const PGresult *);

#define FUNCTIONS(X) \
    X(PQlibVersion, int, (void)) \
    X(PQconnectStartParams, PGconn *, (const char *const *, const char *const *, int)) \
    X(PQconnectPoll, int, (PGconn *)) \
    X(PQstatus, int, (const PGconn *)) \
    X(PQsocket, int, (const PGconn *)) \
    X(PQsetnonblocking, int, (PGconn *, int)) \
    X(PQsetNoticeReceiver, receiver, (PGconn *, receiver, void *)) \
    X(PQerrorMessage, char *, (const PGconn *)) \
    X(PQhost, char *, (const PGconn *)) \
    X(PQserverVersion, int, (const PGconn *)) \
    X(PQsslInUse, int, (PGconn *)) \
    X(PQbackendPID, int, (const PGconn *)) \
    X(PQsetErrorVerbosity, int, (PGconn *, int)) \
    X(PQconnectionNeedsPassword, int, (const PGconn *)) \
    X(PQfinish, void, (PGconn *)) \
    X(PQgetCancel, void *, (PGconn *)) \
    X(PQcancel, int, (void *, char *, int)) \
    X(PQfreeCancel, void, (void *)) \
    X(PQsendQuery, int, (PGconn *, const char *)) \
    X(PQsendQueryParams, int, \
        (PGconn *, const char *, int, const unsigned *, const char *const *, const int *, \
         const int *, int)) \
    X(PQsendPrepare, int, (PGconn *, const char *, const char *, int, const unsigned *)) \
    X(PQsendQueryPrepared, int, \
        (PGconn *, const char *, int, const char *const *, const int *, const int *, int)) \
    X(PQflush, int, (PGconn *)) \
    X(PQconsumeInput, int, (PGconn *)) \
    X(PQisBusy, int, (PGconn *)) \
    X(PQgetResult, PGresult *, (PGconn *)) \
    X(PQresultStatus, int, (const PGresult *)) \
    X(PQresultErrorField, char *, (const PGresult *, int)) \
    X(PQntuples, int, (const PGresult *)) \
    X(PQnfields, int, (const PGresult *)) \
    X(PQgetisnull, int, (const PGresult *, int, int)) \
    X(PQgetvalue, char *, (const PGresult *, int, int)) \
    X(PQclear, void, (PGresult *))

#define POINTER(name, result, arguments) result(*name) arguments;
static struct {
    FUNCTIONS(POINTER)
} lib;

static const char *refusal;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define ENTRY(name, result, arguments) {#name, (void **)&lib.name},
static void load(void) {
    static const struct late_function functions[] = {FUNCTIONS(ENTRY)};
    refusal = late_load("libpq.so.5", functions, sizeof functions / sizeof *functions);
}

const char *pq_load(void) {
    pthread_once(&once, load);
    return refusal;
}

int pq_version(void) { return lib.PQlibVersion(); }

// PQERRORS_DEFAULT and PQERRORS_VERBOSE of libpq-fe.h.
enum { usual = 1, with_code = 2 };

PGconn *pq_connect_start(const char *const *keywords, const char *const *values) {
    PGconn *connection = lib.PQconnectStartParams(keywords, values, 0);
    if (connection) lib.PQsetErrorVerbosity(connection, with_code);
    return connection;
}

int pq_connect_poll(PGconn *connection) { return lib.PQconnectPoll(connection); }
int pq_status(PGconn *connection) { return lib.PQstatus(connection); }
int pq_socket(PGconn *connection) { return lib.PQsocket(connection); }

static void drop(void *nothing, const PGresult *notice) {
    (void)nothing;
    (void)notice;
}

int pq_prepare_session(PGconn *connection) {
    lib.PQsetNoticeReceiver(connection, drop, NULL);
    lib.PQsetErrorVerbosity(connection, usual);
    return lib.PQsetnonblocking(connection, 1);
}

const char *pq_error(PGconn *connection) { return lib.PQerrorMessage(connection); }
const char *pq_host(PGconn *connection) { return lib.PQhost(connection); }
int pq_server_version(PGconn *connection) { return lib.PQserverVersion(connection); }
int pq_ssl_in_use(PGconn *connection) { return lib.PQsslInUse(connection); }
int pq_backend_pid(PGconn *connection) { return lib.PQbackendPID(connection); }
int pq_needs_password(PGconn *connection) { return lib.PQconnectionNeedsPassword(connection); }
void pq_finish(PGconn *connection) { lib.PQfinish(connection); }

static void *ask_to_cancel(void *request) {
    char words[256];
    lib.PQcancel(request, words, sizeof words);
    lib.PQfreeCancel(request);
    return NULL;
}

void pq_cancel(PGconn *connection) {
    void *request = lib.PQgetCancel(connection);
    pthread_t thread;
    if (!request) return;
    if (pthread_create(&thread, NULL, ask_to_cancel, request) == 0)
        pthread_detach(thread);
    else
        lib.PQfreeCancel(request);
}

int pq_send_params(
    PGconn *connection, const char *statement, int count, const char *const *values
) {
    return lib.PQsendQueryParams(connection, statement, count, NULL, values, NULL, NULL, 0);
}

int pq_send_prepare(PGconn *connection, const char *name, const char *statement) {
    return lib.PQsendPrepare(connection, name, statement, 0, NULL);
}

int pq_send_prepared(
    PGconn *connection, const char *name, int count, const char *const *values
) {
    return lib.PQsendQueryPrepared(connection, name, count, values, NULL, NULL, 0);
}

int pq_send(PGconn *connection, const char *statements) {
    return lib.PQsendQuery(connection, statements);
}

int pq_flush(PGconn *connection) { return lib.PQflush(connection); }
int pq_consume(PGconn *connection) { return lib.PQconsumeInput(connection); }
int pq_is_busy(PGconn *connection) { return lib.PQisBusy(connection); }

PGresult *pq_result(PGconn *connection) { return lib.PQgetResult(connection); }
int pq_result_status(const PGresult *result) { return lib.PQresultStatus(result); }
const char *pq_result_code(const PGresult *result) { return lib.PQresultErrorField(result, 'C'); }
const char *pq_result_words(const PGresult *result) { return lib.PQresultErrorField(result, 'M'); }
const char *pq_result_detail(const PGresult *result) { return lib.PQresultErrorField(result, 'D'); }
int pq_rows(const PGresult *result) { return lib.PQntuples(result); }
int pq_columns(const PGresult *result) { return lib.PQnfields(result); }

const char *pq_value(const PGresult *result, int row, int column) {
    return lib.PQgetisnull(result, row, column) ? NULL : lib.PQgetvalue(result, row, column);
}

void pq_clear(PGresult *result) { lib.PQclear(result); }
