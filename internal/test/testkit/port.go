package testkit

import (
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// nextPort counts the ports that tests of this process have been given.
var nextPort atomic.Int32

// FreeAddress returns an address of this machine that nobody listens on, for a program whose address must be known
// before it starts. Its port is below those that systems give to connections, and no other test has it: otherwise
// another one could take it before the program does.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := 20000 + (os.Getpid()*100+int(nextPort.Add(1)))%10000
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		l.Close()
		if names, err := net.ListenPacket("udp", address); err == nil {
			names.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// FreePort returns the port of a FreeAddress.
func FreePort(t testing.TB) int {
	t.Helper()
	_, port, _ := net.SplitHostPort(FreeAddress(t))
	n, err := strconv.Atoi(port)
	NoError(t, err)
	return n
}
