#pragma once
/* address: is this an address of the public internet?
 *
 * What a stranger's link may make the daemon connect to. Not public: this machine,
 * private and shared networks, link-local ones (where clouds keep their credentials),
 * multicast, what is reserved or for documentation (IANA's special-purpose registries for
 * IPv4 and IPv6, RFC 6890), and IPv6 addresses that carry such an IPv4 address (mapped,
 * compatible, NAT64, 6to4); all of Teredo. Anything but IPv4 and IPv6 is not public. */
#include <stdbool.h>
#include <sys/socket.h>

bool address_is_public(const struct sockaddr *address);
