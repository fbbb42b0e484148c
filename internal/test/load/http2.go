package load

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// HTTP2 is a client of HTTP/2 that writes and reads single frames, also forbidden ones.
type HTTP2 struct {
	*http2.Framer
	Conn *tls.Conn

	head    bytes.Buffer
	encoder *hpack.Encoder
}

// DialHTTP2 connects to a server from an address of this machine and sends the settings.
func DialHTTP2(
	ctx context.Context, server, from string, trusting *tls.Config, settings ...http2.Setting,
) (*HTTP2, error) {
	trusting.NextProtos = []string{"h2"}
	conn, err := (&tls.Dialer{Config: trusting, NetDialer: dialer(from)}).DialContext(ctx, "tcp", server)
	if err != nil {
		return nil, err
	}
	c := &HTTP2{Framer: http2.NewFramer(conn, conn), Conn: conn.(*tls.Conn)}
	c.AllowIllegalWrites = true
	c.encoder = hpack.NewEncoder(&c.head)
	if _, err = io.WriteString(conn, http2.ClientPreface); err == nil {
		err = c.WriteSettings(settings...)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// Encode compresses header fields, which are names and values in turn.
func (c *HTTP2) Encode(fields ...string) []byte {
	c.head.Reset()
	for i := 0; i < len(fields); i += 2 {
		c.encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return c.head.Bytes()
}

// Request sends the head of a request and no body. Headers are names and values in turn.
func (c *HTTP2) Request(stream uint32, end bool, method, path string, headers ...string) error {
	fields := append([]string{":method", method, ":scheme", "https", ":authority", "localhost", ":path", path},
		headers...)
	return c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.Encode(fields...),
		EndStream: end, EndHeaders: true})
}

// Until reads frames until one is found. It returns an error if the connection ends, or the time, before.
func (c *HTTP2) Until(within time.Duration, found func(http2.Frame) bool) error {
	if err := c.Conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	for {
		f, err := c.ReadFrame()
		if err != nil {
			return err
		}
		if found(f) {
			return nil
		}
	}
}

// Drop ends the connection of TCP without a word, so that nobody waits for a socket that the server does not read.
func (c *HTTP2) Drop() error { return c.Conn.NetConn().(*net.TCPConn).Close() }
