#pragma once
#include <stddef.h>

/* The distribution's libpq, taken into the process only when a fleet on PostgreSQL is asked for.

   Linked to it, every command would pay for it and the twenty libraries behind it. Each function here
   is libpq's of the same name with PQ for pq; none may be called before pq_load has returned NULL. The
   header of libpq is not needed: nothing has changed in these calls since libpq.so.5 came in 2005. */

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

/* PostgresPollingStatusType */
enum { PQ_POLLING_FAILED = 0, PQ_POLLING_READING = 1, PQ_POLLING_WRITING = 2, PQ_POLLING_OK = 3 };
/* ConnStatusType; anything else is a connection in the making. */
enum { PQ_CONNECTION_OK = 0, PQ_CONNECTION_BAD = 1 };
/* ExecStatusType, as far as we meet it. */
enum { PQ_COMMAND_OK = 1, PQ_TUPLES_OK = 2 };

/* Loads the library, once; NULL when it is there, else why it is not. Any thread. */
const char *pq_load(void);
/* As PQlibVersion: 150020 for 15.20. */
int pq_version(void);

PGconn *pq_connect_start(const char *const *keywords, const char *const *values);
int pq_connect_poll(PGconn *connection);
int pq_status(PGconn *connection);
int pq_socket(PGconn *connection);
/* Notices are dropped instead of going to standard error; calls do not block from now on. */
int pq_prepare_session(PGconn *connection);
const char *pq_error(PGconn *connection);
const char *pq_host(PGconn *connection);
int pq_server_version(PGconn *connection);
int pq_ssl_in_use(PGconn *connection);
void pq_finish(PGconn *connection);

/* One statement with values as text. */
int pq_send_params(PGconn *connection, const char *statement, int count, const char *const *values);
/* Any number of statements without values. */
int pq_send(PGconn *connection, const char *statements);
int pq_flush(PGconn *connection);
int pq_consume(PGconn *connection);
int pq_is_busy(PGconn *connection);

PGresult *pq_result(PGconn *connection);
int pq_result_status(const PGresult *result);
/* Of its error: the SQLSTATE, the sentence, the detail; NULL where there is none. */
const char *pq_result_code(const PGresult *result);
const char *pq_result_words(const PGresult *result);
const char *pq_result_detail(const PGresult *result);
int pq_rows(const PGresult *result);
int pq_columns(const PGresult *result);
/* NULL where the value is null. */
const char *pq_value(const PGresult *result, int row, int column);
void pq_clear(PGresult *result);
