#pragma once
/* log: one line per event on stderr, `time level module: message key=value …`.
 *
 * Define LOG_MODULE before including this header. Never log bodies, keys, header values
 * or file contents. Lines are written with one write(2) and cut at 1 KiB; control
 * characters in them are replaced, so that outside text cannot forge a line. */
enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

#ifndef LOG_MODULE
#define LOG_MODULE "core"
#endif

/* The least important level that is printed. Default LOG_WARNING. */
extern enum log_level log_shown;
/* "error", "warning", "info", "debug"; returns -EINVAL for another word. */
int log_level_parse(const char *word, enum log_level *ret);

void log_write(enum log_level level, const char *module, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The arguments are evaluated only if the line is printed. */
#define log_at(level, ...)                                                               \
    ((level) > log_shown ? (void)0 : log_write(level, LOG_MODULE, __VA_ARGS__))
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_at(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)
