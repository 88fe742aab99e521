#!/usr/bin/env python3
"""Writes addresses.json: addresses and whether they belong to the public internet, by Python's
ipaddress (IANA's special-purpose registries) and RFC 6890.

ipaddress calls multicast global and 6to4 and NAT64 addresses what their outer prefix is; here a
multicast address is not public, and one that carries an IPv4 address is what that one is.
"""
import ipaddress, json, random

FIXED = """0.0.0.0 0.1.2.3 1.1.1.1 8.8.8.8 9.255.255.255 10.0.0.0 10.255.255.255 11.0.0.0 100.63.255.255 100.64.0.0
100.127.255.255 100.128.0.0 126.255.255.255 127.0.0.1 127.255.255.255 128.0.0.1 169.253.255.255 169.254.169.254 169.255.0.0
172.15.255.255 172.16.0.1 172.31.255.255 172.32.0.0 192.0.0.1 192.0.1.0 192.0.2.1 192.0.3.0 192.167.255.255 192.168.0.1
192.169.0.0 198.17.255.255 198.18.0.1 198.19.255.255 198.20.0.0 198.51.100.7 198.51.101.0 203.0.113.9 203.0.114.0
223.255.255.255 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::2 2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450:4001::1 fc00::1 fdff::1 fe80::1 febf::1 fec0::1 ff02::1 ff0e::1
2001:db8::1 2001::1 2001:0:1::1 3fff:ffff::1 4000::1 e000::1 100::1""".split()
CARRIERS = ["::ffff:%s", "64:ff9b::%s"]


def public(text):
    a = ipaddress.ip_address(text)
    return a.is_global and not a.is_multicast and not (a.version == 6 and a not in ipaddress.ip_network("2000::/3"))


def main():
    rng = random.Random(7)
    v4 = [a for a in FIXED if ":" not in a] + [str(ipaddress.IPv4Address(rng.getrandbits(32))) for _ in range(200)]
    rows = [[a, public(a)] for a in v4 + [a for a in FIXED if ":" in a]]
    for a in v4[:60]:
        number = int(ipaddress.IPv4Address(a))
        rows += [[c % a, public(a)] for c in CARRIERS]
        rows.append([str(ipaddress.IPv6Address(0x2002 << 112 | number << 80 | 1)), public(a)])
    print(json.dumps(rows, indent=None, separators=(",", ":")).replace("],[", "],\n["))


main()
