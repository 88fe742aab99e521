#pragma once
/* address: whether an address is on the public internet, so that the daemon may connect
 * to it because of a link from outside.
 *
 * Not public: this machine, private and shared networks, link-local addresses (where
 * clouds keep their credentials), multicast, reserved and documentation ranges (IANA's
 * special-purpose registries for IPv4 and IPv6, RFC 6890), IPv6 addresses that contain
 * such an IPv4 address (mapped, compatible, NAT64, 6to4), and all of Teredo. Other
 * address families are not public. */
#include <stdbool.h>
#include <sys/socket.h>

bool address_is_public(const struct sockaddr *address);
