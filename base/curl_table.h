#pragma once
/* curl_table: libcurl's functions, loaded at the first use; only for http.c. */
#include <curl/curl.h>

struct err;

struct curl_table {
    typeof(curl_global_init) *global_init;
    typeof(curl_easy_init) *easy_init;
    typeof(curl_easy_setopt) *easy_setopt;
    typeof(curl_easy_getinfo) *easy_getinfo;
    typeof(curl_easy_strerror) *easy_strerror;
    typeof(curl_easy_cleanup) *easy_cleanup;
    typeof(curl_easy_pause) *easy_pause;
    typeof(curl_slist_append) *slist_append;
    typeof(curl_slist_free_all) *slist_free_all;
    typeof(curl_multi_init) *multi_init;
    typeof(curl_multi_setopt) *multi_setopt;
    typeof(curl_multi_add_handle) *multi_add_handle;
    typeof(curl_multi_remove_handle) *multi_remove_handle;
    typeof(curl_multi_socket_action) *multi_socket_action;
    typeof(curl_multi_assign) *multi_assign;
    typeof(curl_multi_info_read) *multi_info_read;
    typeof(curl_multi_cleanup) *multi_cleanup;
    const char *certificates; /* CURLOPT_CAINFO; NULL if the library knows the path */
};

/* The table, valid until the process ends, or NULL with -ENOSYS and what to install. */
const struct curl_table *curl_table_load(struct err *err);
