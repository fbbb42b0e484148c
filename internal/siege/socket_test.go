package siege

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// socketAttacks are those by connections whose other end is slow or dead.
func socketAttacks(w *world) []attack {
	fetchHeader := "POST /alice/garden.git/git-upload-pack HTTP/1.1\r\nHost: x\r\n" +
		"Content-Type: application/x-git-upload-pack-request\r\nContent-Encoding: gzip\r\nContent-Length: 5000\r\n\r\n"
	upload := "PUT /repos/mallory/target/contents/f%d HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + w.tokens["mallory"] +
		"\r\nContent-Type: application/json\r\nContent-Length: 40000000\r\n\r\n{\"message\": \"x\", \"content\": \""
	unfinished := "POST /repos/mallory/target/issues HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + w.tokens["mallory"] +
		"\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{\"title\": \"" + strings.Repeat("x", 900_000)
	return []attack{
		held("fetches whose bodies never come", 1, 4100, 0, func(int) string { return fetchHeader }),
		held("readers of a large file that never read", 1, 64, 0, func(int) string {
			return "GET /repos/mallory/large/contents/file HTTP/1.1\r\nHost: x\r\nAccept: application/vnd.github.raw\r\n\r\n"
		}),
		held("slow clones", 6, 8, 100, func(int) string { return slowClone(w) }),
		held("uploads that never come", 1, 4, 0, func(n int) string { return fmt.Sprintf(upload, n) }),
		held("unfinished bodies", 1, 300, 0, func(int) string { return unfinished }),
		held("unfinished headers", 1, 1000, 0, func(int) string { return "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: " }),
		held("pushes that never come", 1, 50, 0, func(int) string {
			return "POST /mallory/target.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + w.tokens["mallory"] +
				"\r\nContent-Type: application/x-git-receive-pack-request\r\nContent-Length: 40000000\r\n\r\n"
		}),
	}
}

func slowClone(w *world) string {
	body := string(fetch(w.tips["large"], ""))
	return "POST /mallory/large.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nGit-Protocol: version=2\r\n" +
		"Content-Type: application/x-git-upload-pack-request\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
}

// held is an attack that keeps connections open: each sends its request and then
// reads so many bytes a second, until the server closes it. One that is closed is
// replaced after a second.
func held(name string, workers, connections, rate int, request func(n int) string) attack {
	return attack{name, workers, func(ctx context.Context, a *attacker) string {
		var all sync.WaitGroup
		for n := range connections {
			all.Go(func() {
				for ctx.Err() == nil {
					a.hold(ctx, request(n), rate)
					pause(ctx, time.Second)
				}
			})
		}
		all.Wait()
		return "held"
	}}
}

// hold sends the request over a connection of its own and stays, until the server
// closes it or ctx is done.
func (a *attacker) hold(ctx context.Context, request string, rate int) {
	dialer := net.Dialer{LocalAddr: a.unknown.local, Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", a.unknown.world.address)
	if err != nil {
		return
	}
	defer conn.Close()
	conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	if _, err := io.WriteString(conn, request); err != nil {
		return
	}
	one := make([]byte, max(rate, 1))
	for ctx.Err() == nil {
		if rate > 0 {
			if _, err := conn.Read(one); err != nil {
				return
			}
			pause(ctx, time.Second)
			continue
		}
		// Nothing is read. A write of nothing does not tell that the other end
		// closed, so the kernel is asked.
		if closed(conn.(*net.TCPConn)) {
			return
		}
		pause(ctx, 500*time.Millisecond)
	}
}
