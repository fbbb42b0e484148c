package load

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// Open opens connections to a server from an address of this machine. Each sends a text and does nothing more. It
// returns those for which the listener had room; they are closed when the test ends.
func Open(t testing.TB, server, from string, count int, text string) []net.Conn {
	t.Helper()
	d := dialer(from)
	conns := make([]net.Conn, 0, count)
	for range count {
		c, err := d.Dial("tcp", server)
		if err != nil {
			continue
		}
		t.Cleanup(func() { c.Close() })
		c.(*net.TCPConn).SetReadBuffer(4 << 10)
		if text != "" {
			c.SetWriteDeadline(time.Now().Add(10 * time.Second))
			io.WriteString(c, text)
		}
		conns = append(conns, c)
	}
	return conns
}

// Head is the head of a request by HTTP/1.1, up to its empty line. The line is a method and a path.
func Head(line string, headers ...string) string {
	lines := append([]string{line + " HTTP/1.1", "Host: h"}, headers...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

func dialer(from string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
}
