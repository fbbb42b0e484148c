//go:build long

package siege

import (
	"net"

	"golang.org/x/sys/unix"
)

// closed reports that the server has closed or reset a connection, without
// reading from it.
func closed(conn *net.TCPConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		gone = err != nil || info.State != 1 // TCP_ESTABLISHED
	})
	return err != nil || gone
}
