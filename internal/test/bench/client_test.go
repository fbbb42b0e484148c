//go:build long

package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/test/testkit"
)

// client is one keep-alive connection. Client and server share the machine, so
// net/http's client, which costs about as much as its server, would halve every
// difference that is to be measured: this one writes bytes that were made
// before, and reads of an answer no more than where it ends.
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(address string) (*client, error) {
	c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		return nil, err
	}
	return &client{conn: c, in: bufio.NewReaderSize(c, 256<<10)}, nil
}

// request returns the bytes of a request. An empty token is not sent.
func request(method, path, token, body string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: bench\r\n", method, path)
	if token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", token)
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return b.Bytes()
}

func get(path, token string) []byte { return request("GET", path, token, "") }

// do sends a request and reads its answer to the end. It gives the status and
// the number of bytes of the body.
func (c *client) do(request []byte) (status int, n int64, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, 0, err
	}
	return c.answer()
}

// answer reads an answer to its end.
func (c *client) answer() (status int, n int64, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	if len(line) < 12 {
		return 0, 0, fmt.Errorf("bad status line %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, 0, err
	}
	length, chunked := int64(0), false
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, 0, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length, err = strconv.ParseInt(string(value), 10, 64)
		} else if bytes.Equal(line, []byte("Transfer-Encoding: chunked")) {
			chunked = true
		}
		if err != nil {
			return 0, 0, err
		}
	}
	if chunked {
		n, err = c.chunks()
	} else {
		n, err = c.discard(length)
	}
	return status, n, err
}

// chunks reads a chunked body.
func (c *client) chunks() (total int64, err error) {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return total, err
		}
		size, err := strconv.ParseInt(string(bytes.TrimRight(line, "\r\n")), 16, 64)
		if err != nil {
			return total, err
		}
		if _, err := c.discard(size + 2); err != nil {
			return total, err
		}
		if size == 0 {
			return total, nil
		}
		total += size
	}
}

func (c *client) discard(n int64) (int64, error) {
	d, err := c.in.Discard(int(n))
	return int64(d), err
}

var errStatus = errors.New("unexpected status")

// must does a request that has to be answered 200 or 201, and gives the number
// of bytes of the body.
func (c *client) must(request []byte) (int64, error) {
	status, n, err := c.do(request)
	if err == nil && status != 200 && status != 201 {
		err = fmt.Errorf("%w: %d to %q", errStatus, status, bytes.SplitN(request, []byte("\r"), 2)[0])
	}
	return n, err
}

// load is a number of connections that all ask as fast as they are answered.
type load struct {
	clients []*client
	ask     func(c *client, number, asked int) error // asks once; asked is how often that client asked before
}

// newLoad connects clients whose requests next returns, by the number of the client.
func newLoad(b *testing.B, address string, connections int, next func(client int) []byte) *load {
	b.Helper()
	l := &load{ask: func(c *client, number, _ int) error {
		_, err := c.must(next(number))
		return err
	}}
	for range connections {
		l.clients = append(l.clients, connect(b, address))
	}
	return l
}

// repeat asks for the same again and again.
func repeat(request []byte) func(int) []byte { return func(int) []byte { return request } }

// run asks for as long as d says, and gives requests per second.
func (l *load) run(b *testing.B, d time.Duration) float64 {
	b.Helper()
	counts := make([]int, len(l.clients))
	start := time.Now()
	var g errgroup.Group
	for i, c := range l.clients {
		g.Go(func() error {
			for time.Since(start) < d {
				if err := l.ask(c, i, counts[i]); err != nil {
					return err
				}
				counts[i]++
			}
			return nil
		})
	}
	testkit.NoError(b, g.Wait())
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / time.Since(start).Seconds()
}

// against compares the rates of two loads that take turns, each for as long as d says.
func (l *load) against(b *testing.B, other *load, d time.Duration) (ratio, rate, otherRate float64) {
	b.Helper()
	l.run(b, slice)
	other.run(b, slice)
	return pairs(rounds, func() float64 { return l.run(b, d) }, func() float64 { return other.run(b, d) })
}

// connect dials, and closes when the benchmark ends.
func connect(b *testing.B, address string) *client {
	b.Helper()
	c, err := dial(address)
	testkit.NoError(b, err)
	b.Cleanup(func() { c.conn.Close() })
	return c
}
