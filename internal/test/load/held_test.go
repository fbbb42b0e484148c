//go:build long && linux

package load

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"arbor/internal/git/wire"
)

// heldAttacks are connections that send or read slowly, or never.
func heldAttacks(w *world) []attack {
	const zipped, endless = "Content-Encoding: gzip", "Content-Length: 40000000"
	const fetchType = "Content-Type: application/x-git-upload-pack-request"
	const pushType = "Content-Type: application/x-git-receive-pack-request"
	const jsonType, accept = "Content-Type: application/json", "Accept: application/vnd.github."
	token := "Authorization: Bearer " + w.tokens["mallory"]
	body := string(fetch(w.tips["large"], "ofs-delta\n"))
	clone := func(headers ...string) string {
		return Head("POST /carol/large.git/git-upload-pack", append(headers, "Git-Protocol: version=2", fetchType,
			fmt.Sprint("Content-Length: ", len(body)))...) + body
	}
	const large, target = "GET /repos/carol/large/", " /repos/mallory/target/"
	list := []attack{
		held("fetches whose bodies never come", 1, 4100, 0, Head("POST /alice/garden.git/git-upload-pack", fetchType,
			zipped, "Content-Length: 5000")+"\x1f\x8b\x08\x00"),
		held("readers of a file that never read", 1, 64, 0, Head(large+"contents/large.txt", accept+"raw")),
		held("readers of a diff that never read", 1, 64, 0, Head(large+"commits/many", accept+"diff")),
		held("readers of a list that never read", 1, 64, 0, Head(large+"commits?sha=talk&per_page=100")),
		held("clones that stall", 6, 8, 100, clone()),
		apart(held("slow clones", 6, 10, 20<<10, clone())),
		apart(held("slow clones by one account", 6, 10, 20<<10, clone(token))),
		held("uploads that never come", 1, 8, 0,
			Head("PUT"+target+"contents/f", token, jsonType, endless)+`{"message": "x", "content": "`),
		held("blobs that never come", 1, 8, 0,
			Head("POST"+target+"git/blobs", token, jsonType, endless)+`{"content":"`),
		held("unfinished bodies", 1, 500, 0,
			Head("POST"+target+"issues", token, jsonType, "Content-Length: 1000000")+
				`{"title": "`+strings.Repeat("x", 900_000)),
		held("unfinished headers", 1, 1000, 0, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "),
		held("pushes that never come", 1, 50, 0,
			Head("POST /mallory/target.git/git-receive-pack", token, pushType, endless)),
	}
	if w.sshAddress != "" {
		list = append(list, stalledSSH(w))
	}
	return list
}

func apart(a attack) attack { a.apart = true; return a }

// held is an attack that keeps connections open: each sends its request and then reads so many bytes a
// second, until the server closes it. One that is closed is replaced after a second.
func held(name string, workers, connections, rate int, request string) attack {
	return keep(name, workers, connections, func(ctx context.Context, a *attacker, begun func()) {
		a.hold(ctx, request, rate, begun)
	})
}

// keep is an attack of so many connections of each worker. Each is replaced a second after it ended. hold
// calls begun when the server has got what the client sends.
func keep(
	name string, workers, connections int, hold func(ctx context.Context, a *attacker, begun func()),
) attack {
	return attack{name: name, workers: workers, crowd: connections,
		try: func(ctx context.Context, a *attacker) string {
			var all sync.WaitGroup
			for range connections {
				all.Go(func() {
					for ctx.Err() == nil {
						begun := sync.OnceFunc(func() { a.begun.Add(1) })
						hold(ctx, a, begun)
						begun() // also if the server turned it away
						pause(ctx, time.Second)
					}
				})
			}
			all.Wait()
			return "held"
		}}
}

// hold sends a request over a connection of its own, and reads until ctx is done. The connection stays
// until the server closes it or the attacker leaves.
func (a *attacker) hold(ctx context.Context, request string, rate int, begun func()) {
	conn, err := dialer(a.address).DialContext(ctx, "tcp", a.unknown.world.address)
	if err != nil {
		return
	}
	defer conn.Close()
	conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	conn.SetWriteDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, request); err != nil {
		return
	}
	begun()
	const piece = 100 * time.Millisecond
	for bytes := make([]byte, rate/10); rate > 0 && ctx.Err() == nil; pause(ctx, piece) {
		conn.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := conn.Read(bytes); err != nil && !isTimeout(err) {
			return
		}
	}
	a.await(conn.(*net.TCPConn))
}

// await waits until the server closes a connection that is not read. An empty write does not detect that,
// so it asks the kernel.
func (a *attacker) await(conn *net.TCPConn) {
	for a.stay.Err() == nil && !closed(conn) {
		pause(a.stay, 500*time.Millisecond)
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

// stalledSSH is mallory's fetches by one key that are begun and then say nothing.
func stalledSSH(w *world) attack {
	const sessions = 10 // of a connection
	config := &ssh.ClientConfig{User: "git", Auth: []ssh.AuthMethod{ssh.PublicKeys(w.key)},
		HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: 10 * time.Second}
	want := append(wire.AppendPkt(nil, "want "+string(w.tips["garden"])+" side-band-64k ofs-delta\n"), "0000"...)
	return keep("fetches over SSH that stall", 1, 10, func(ctx context.Context, a *attacker, begun func()) {
		client, err := ssh.Dial("tcp", w.sshAddress, config)
		if err != nil {
			return
		}
		for range sessions {
			if session, err := client.NewSession(); err == nil {
				in, _ := session.StdinPipe()
				if session.Start("git-upload-pack 'alice/garden.git'") == nil {
					in.Write(want)
				}
			}
		}
		begun()
		ended := make(chan error, 1)
		go func() { ended <- client.Wait() }()
		select {
		case <-ended:
		case <-a.stay.Done():
		case <-time.After(5 * time.Second): // the server ends stalled fetches: they are begun again
			if ctx.Err() == nil {
				break
			}
			<-a.stay.Done()
		}
		client.Close()
	})
}
