//go:build long && linux

package load

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/net/http2"

	"arbor/internal/test/testkit"
)

// tlsAttacks are against a server that speaks TLS.
func tlsAttacks(w *world) []attack {
	const file = "/repos/carol/large/contents/large.txt"
	window := func(size uint32) http2.Setting { return http2.Setting{ID: http2.SettingInitialWindowSize, Val: size} }
	// unread is an attack by streams of a large file. reads says whether it takes frames off its socket.
	unread := func(name string, streams uint32, reads bool, settings ...http2.Setting) attack {
		return keep(name, 1, 8, func(ctx context.Context, a *attacker, begun func()) {
			c, err := a.dialHTTP2(ctx, settings...)
			if err != nil {
				return
			}
			defer c.Drop()
			if !reads {
				c.WriteWindowUpdate(0, 1<<30)
			}
			for i := range streams {
				c.Request(1+2*i, true, "GET", file, "accept", "application/vnd.github.raw")
			}
			begun()
			if reads {
				defer context.AfterFunc(a.stay, func() { c.Drop() })()
				c.Until(testkit.Patience, func(http2.Frame) bool { return false })
				return
			}
			a.await(c.Conn.NetConn().(*net.TCPConn))
		})
	}
	return []attack{
		held("handshakes that never end", 1, 2000, 0, "\x16\x03\x01\x02\x00\x01"),
		unread("streams without a window", 1, true, window(0)),
		unread("connections without a window", 2, true),
		unread("sockets that are not read", 4, false, window(1<<30)),
		flood("rapid resets", "", func(c *HTTP2, n int) error {
			if err := c.Request(uint32(1+2*n), true, "GET", "/repos/alice/garden/issues"); err != nil {
				return err
			}
			return c.WriteRSTStream(uint32(1+2*n), http2.ErrCodeCancel)
		}),
		flood("continuations", "ended", func(c *HTTP2, n int) error {
			if n == 0 {
				return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.Encode(":method", "GET")})
			}
			return c.WriteContinuation(1, false, c.Encode(fmt.Sprint("x-", n), strings.Repeat("v", 8000)))
		}),
		flood("settings", "", func(c *HTTP2, _ int) error { return c.WriteSettings() }), // one answer stands for many
		flood("pings", "ended", func(c *HTTP2, _ int) error { return c.WritePing(false, [8]byte{}) }),
		flood("a large frame", "ended", func(c *HTTP2, n int) error {
			if n > 0 {
				time.Sleep(10 * time.Millisecond)
				return c.WritePing(false, [8]byte{})
			}
			return c.WriteRawFrame(0xbb, 0, 0, make([]byte, 1<<20))
		}),
	}
}

func (a *attacker) dialHTTP2(ctx context.Context, settings ...http2.Setting) (*HTTP2, error) {
	w := a.unknown.world
	return DialHTTP2(ctx, w.address, a.address, testkit.Trusting(w.t, w.certificate), settings...)
}

// flood is an attack with frames that cost the sender nothing and whose responses it does not read. It also
// runs alone.
func flood(name, ends string, frame func(c *HTTP2, n int) error) attack {
	return attack{name: "flood of " + name, workers: 1, crowd: 1, ends: ends,
		try: func(ctx context.Context, a *attacker) string {
			defer a.begun.Add(1)
			c, err := a.dialHTTP2(ctx)
			if err != nil {
				return "ended"
			}
			defer c.Drop()
			defer context.AfterFunc(ctx, func() { c.Drop() })()
			for n := range 500_000 {
				if err := frame(c, n); err != nil {
					return "ended"
				}
				if n == 100 {
					a.begun.Add(1)
				}
			}
			return "not ended"
		}}
}
