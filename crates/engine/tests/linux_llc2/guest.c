// The first program of a user-mode Linux whose llc2 is held against ours. It listens on SAP 40, and the first
// octet that it receives on a link says what it does: e send everything back, s read all,
// c close, g send so many octets, C close and then call back, q power off.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <linux/llc.h>
#ifndef AF_LLC
#define AF_LLC 26
#endif
static const char *module(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", getenv("LLC_MODULES"), name);
    return path;
}
static void insert(const char *path) {
    int fd = open(path, O_RDONLY);
    if (fd < 0 || syscall(SYS_finit_module, fd, "", 0)) printf("guest: %s: %s\n", path, strerror(errno));
    close(fd);
}
static int sock(unsigned char sap) {
    int fd = socket(AF_LLC, SOCK_STREAM, 0);
    struct sockaddr_llc own = {.sllc_family = AF_LLC, .sllc_arphrd = ARPHRD_ETHER, .sllc_sap = sap};
    unsigned char mac[6] = {2, 0, 0, 0, 0, 2};
    memcpy(own.sllc_mac, mac, 6);
    if (fd < 0 || bind(fd, (void *)&own, sizeof own)) printf("guest: bind: %s\n", strerror(errno));
    return fd;
}
int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    mount("proc", "/proc", "proc", 0, "");
    insert(module("llc.ko"));
    insert(module("llc2.ko"));
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq request = {0};
    strcpy(request.ifr_name, "vec0");
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    unsigned char mac[6] = {2, 0, 0, 0, 0, 2};
    memcpy(request.ifr_hwaddr.sa_data, mac, 6);
    if (ioctl(fd, SIOCSIFHWADDR, &request)) printf("guest: mac: %s\n", strerror(errno));
    if (ioctl(fd, SIOCGIFFLAGS, &request)) printf("guest: flags: %s\n", strerror(errno));
    request.ifr_flags |= IFF_UP;
    if (ioctl(fd, SIOCSIFFLAGS, &request)) printf("guest: up: %s\n", strerror(errno));
    int listening = sock(0x40);
    if (listen(listening, 4)) printf("guest: listen: %s\n", strerror(errno));
    printf("guest: ready\n");
    static unsigned char buffer[65536];
    for (;;) {
        struct sockaddr_llc from; socklen_t len = sizeof from;
        int link = accept(listening, (void *)&from, &len);
        if (link < 0) { printf("guest: accept: %s\n", strerror(errno)); sleep(1); continue; }
        printf("guest: accepted\n");
        unsigned long total = 0, sum = 0; ssize_t got; char mode = 0;
        while ((got = recv(link, buffer, sizeof buffer, 0)) > 0) {
            if (!mode) { mode = buffer[0]; printf("guest: mode %c\n", mode); }
            for (ssize_t at = 0; at < got; at++) sum = sum * 31 + buffer[at];
            total += got;
            if (mode == 'e') { if (send(link, buffer, got, 0) != got) printf("guest: send: %s\n", strerror(errno)); }
            else if (mode == 'c') break;
            else if (mode == 'g') {
                unsigned long bytes = strtoul((char *)buffer + 1, NULL, 10), at = 0;
                while (at < bytes) {
                    unsigned n = 0;
                    for (; n < 1400 && at < bytes; n++, at++) buffer[n] = (unsigned char)(at * 7 + at / 251);
                    ssize_t put = send(link, buffer, n, 0);
                    if (put != (ssize_t)n) { printf("guest: send %zd: %s\n", put, strerror(errno)); break; }
                }
                printf("guest: generated %lu\n", at);
            } else if (mode == 'q') { sync(); reboot(RB_POWER_OFF); }
        }
        printf("guest: end %zd %s total %lu sum %lu\n", got, got < 0 ? strerror(errno) : "", total, sum);
        close(link);
        if (mode == 'C') {
            sleep(1);
            int out = sock(0x40);
            from.sllc_sap = 0x40;
            int r = connect(out, (void *)&from, sizeof from);
            printf("guest: connect %d %s\n", r, r ? strerror(errno) : "");
            if (!r) { send(out, "hello from linux", 16, 0); sleep(1); }
            close(out);
        }
    }
}
