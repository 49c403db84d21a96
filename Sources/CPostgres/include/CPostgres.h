#pragma once
#include <stddef.h>

/* The distribution's libpq, loaded into the process only when a fleet on PostgreSQL is used.

   If it were linked, every command would load it and the twenty libraries that it needs. Each
   function here calls the libpq function of the same name with PQ instead of pq_; none may be
   called before pq_load has returned NULL. The header of libpq is not needed: these calls have not
   changed since libpq.so.5 was released in 2005. */

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

/* PostgresPollingStatusType */
enum { PQ_POLLING_FAILED = 0, PQ_POLLING_READING = 1, PQ_POLLING_WRITING = 2, PQ_POLLING_OK = 3 };
/* ConnStatusType; any other value means that the connection is being made. */
enum { PQ_CONNECTION_OK = 0, PQ_CONNECTION_BAD = 1 };
/* ExecStatusType, limited to the values that are used. */
enum { PQ_COMMAND_OK = 1, PQ_TUPLES_OK = 2 };

/* Loads the library, once; returns NULL, or the reason for a failure. From any thread. */
const char *pq_load(void);
/* The value of PQlibVersion: 150020 for 15.20. */
int pq_version(void);

/* Until the session is prepared, errors have their code and a last line with a place in the server's source. */
PGconn *pq_connect_start(const char *const *keywords, const char *const *values);
int pq_connect_poll(PGconn *connection);
int pq_status(PGconn *connection);
int pq_socket(PGconn *connection);
/* Notices are dropped instead of printed to standard error, errors are words alone, and calls no longer block. */
int pq_prepare_session(PGconn *connection);
const char *pq_error(PGconn *connection);
const char *pq_host(PGconn *connection);
int pq_server_version(PGconn *connection);
int pq_ssl_in_use(PGconn *connection);
int pq_backend_pid(PGconn *connection);
/* 1 when the server asked for a password and there was none. */
int pq_needs_password(PGconn *connection);
void pq_finish(PGconn *connection);
/* Asks the server to give up the statement under way. Returns at once: the request has no time limit of its own, and goes
   out on another thread. */
void pq_cancel(PGconn *connection);

/* One statement with values as text. */
int pq_send_params(PGconn *connection, const char *statement, int count, const char *const *values);
/* Gives a statement a name in its session, by which it is sent from then on. */
int pq_send_prepare(PGconn *connection, const char *name, const char *statement);
int pq_send_prepared(PGconn *connection, const char *name, int count, const char *const *values);
/* Any number of statements without values. */
int pq_send(PGconn *connection, const char *statements);
int pq_flush(PGconn *connection);
int pq_consume(PGconn *connection);
int pq_is_busy(PGconn *connection);

PGresult *pq_result(PGconn *connection);
int pq_result_status(const PGresult *result);
/* The SQLSTATE, the sentence and the detail of a result's error; NULL where there is none. */
const char *pq_result_code(const PGresult *result);
const char *pq_result_words(const PGresult *result);
const char *pq_result_detail(const PGresult *result);
int pq_rows(const PGresult *result);
int pq_columns(const PGresult *result);
/* NULL where the value is null. */
const char *pq_value(const PGresult *result, int row, int column);
void pq_clear(PGresult *result);
