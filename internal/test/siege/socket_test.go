//go:build long

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

// socketAttacks are those by connections that send or read slowly, or never.
func socketAttacks(w *world) []attack {
	const zipped, large = "Content-Encoding: gzip", "Content-Length: 40000000"
	const fetchType = "Content-Type: application/x-git-upload-pack-request"
	const pushType = "Content-Type: application/x-git-receive-pack-request"
	const jsonType, raw = "Content-Type: application/json", "Accept: application/vnd.github.raw"
	token := "Authorization: Bearer " + w.tokens["mallory"]
	fetches := head("POST /alice/garden.git/git-upload-pack", fetchType, zipped, "Content-Length: 5000")
	clone := string(fetch(w.tips["large"], ""))
	clone = head("POST /mallory/large.git/git-upload-pack", "Git-Protocol: version=2", fetchType,
		fmt.Sprint("Content-Length: ", len(clone))) + clone
	unfinished := head("POST /repos/mallory/target/issues", token, jsonType, "Content-Length: 1000000") +
		`{"title": "` + strings.Repeat("x", 900_000)
	file := head("GET /repos/mallory/large/contents/file", raw)
	push := head("POST /mallory/target.git/git-receive-pack", token, pushType, large)
	same := func(request string) func(int) string { return func(int) string { return request } }
	return []attack{
		held("fetches whose bodies never come", 1, 4100, 0, same(fetches)),
		held("readers of a large file that never read", 1, 64, 0, same(file)),
		held("slow clones", 6, 8, 100, same(clone)),
		held("uploads that never come", 1, 4, 0, func(n int) string {
			return head(fmt.Sprint("PUT /repos/mallory/target/contents/f", n), token, jsonType, large) +
				`{"message": "x", "content": "`
		}),
		held("unfinished bodies", 1, 300, 0, same(unfinished)),
		held("unfinished headers", 1, 1000, 0, same("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")),
		held("pushes that never come", 1, 50, 0, same(push)),
	}
}

// head is the first lines of a request.
func head(line string, headers ...string) string {
	lines := append([]string{line + " HTTP/1.1", "Host: x"}, headers...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
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
