// Package mailtest has mail servers for tests: Start one that takes everything, or misbehaves as a test says; Real a
// real one, aiosmtpd of Debian, with TLS and passwords.
package mailtest

import (
	"bufio"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"

	arbormail "arbor/internal/mail"
	"arbor/internal/test/testkit"
)

// Server is a mail server that keeps what it takes.
type Server struct {
	Address string

	mu    sync.Mutex
	mails []*Mail
	on    func(command string) string
}

// Mail is one that the server took.
type Mail struct {
	From, To   string // of the envelope
	Header     mail.Header
	Text, HTML string
	Raw        string
}

// Subject is decoded.
func (m *Mail) Subject() string {
	s, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		return m.Header.Get("Subject")
	}
	return s
}

// Start serves until the test ends. Mails go to it without TLS.
func Start(t testing.TB) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.NoError(t, err)
	s := &Server{Address: l.Addr().String()}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { s.talk(t, conn) })
			t.Cleanup(func() { conn.Close() })
		}
	})
	t.Cleanup(func() { l.Close() })
	return s
}

// On lets a function answer commands: with a reply, "" for the usual one, "hang" to say nothing any more, or "drop" to
// end the connection. The text of a mail is the command "." at its end.
func (s *Server) On(answer func(command string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = answer
}

func (s *Server) answer(command string) string {
	s.mu.Lock()
	on := s.on
	s.mu.Unlock()
	if on == nil {
		return ""
	}
	return on(command)
}

func (s *Server) talk(t testing.TB, conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	say := func(line string) bool {
		_, err := io.WriteString(conn, line+"\r\n")
		return err == nil
	}
	m := &Mail{}
	for first := true; ; first = false {
		line := ""
		if !first {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				return
			}
		}
		command := strings.ToUpper(strings.TrimSpace(line))
		verb, _, _ := strings.Cut(command, " ")
		reply := s.answer(command)
		switch {
		case reply == "hang":
			_, _ = io.Copy(io.Discard, in)
			return
		case reply == "drop":
			return
		case reply != "":
		case first:
			reply = "220 test ESMTP"
		case verb == "EHLO":
			reply = "250-test\r\n250-8BITMIME\r\n250 SMTPUTF8"
		case verb == "MAIL":
			m = &Mail{From: between(line)}
			reply = "250 ok"
		case verb == "RCPT":
			m.To, reply = between(line), "250 ok"
		case verb == "DATA":
			if !say("354 go on") {
				return
			}
			var ok bool
			if m.Raw, ok = readData(in); !ok {
				return
			}
			switch reply = s.answer("."); reply {
			case "hang":
				_, _ = io.Copy(io.Discard, in)
				return
			case "drop":
				return
			case "":
				s.keep(t, m)
				reply = "250 taken"
			}
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			reply = "250 ok"
		}
		if !say(reply) {
			return
		}
	}
}

func between(line string) string {
	_, rest, _ := strings.Cut(line, "<")
	address, _, _ := strings.Cut(rest, ">")
	return address
}

func readData(in *bufio.Reader) (string, bool) {
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return "", false
		}
		if line == ".\r\n" {
			return b.String(), true
		}
		b.WriteString(strings.TrimPrefix(line, "."))
	}
}

func (s *Server) keep(t testing.TB, m *Mail) {
	read, err := Parse(m.Raw)
	if err != nil {
		t.Errorf("a mail cannot be read: %v\n%s", err, m.Raw)
		return
	}
	read.From, read.To = m.From, m.To
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, read)
}

// Parse reads a mail with its two forms.
func Parse(raw string) (*Mail, error) {
	m := &Mail{Raw: raw}
	read, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		return nil, err
	}
	m.Header = read.Header
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(kind, "multipart/") {
		text, err := decoded(read.Body, m.Header.Get("Content-Transfer-Encoding"))
		m.Text = text
		return m, err
	}
	for parts := multipart.NewReader(read.Body, params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return m, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := decoded(part, part.Header.Get("Content-Transfer-Encoding"))
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			m.HTML = text
		} else {
			m.Text = text
		}
	}
}

func decoded(r io.Reader, encoding string) (string, error) {
	if strings.EqualFold(encoding, "quoted-printable") {
		r = quotedprintable.NewReader(r)
	}
	text, err := io.ReadAll(r)
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

// All are the mails that it has taken.
func (s *Server) All() []*Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Mail(nil), s.mails...)
}

// To are those to an address.
func (s *Server) To(address string) (list []*Mail) {
	for _, m := range s.All() {
		if m.To == address {
			list = append(list, m)
		}
	}
	return list
}

// Wait waits for the n-th mail to an address, from 1, and returns it.
func (s *Server) Wait(t testing.TB, address string, n int) *Mail {
	t.Helper()
	testkit.Eventually(t, func() bool { return len(s.To(address)) >= n }, "a mail to "+address)
	if list := s.To(address); len(list) >= n {
		return list[n-1]
	}
	t.FailNow()
	return nil
}

// Config are settings for the server, of a site at an address.
func (s *Server) Config(t testing.TB, base string) *arbormail.Config {
	t.Helper()
	c, err := arbormail.NewConfig(arbormail.Settings{Server: s.Address, TLS: arbormail.None,
		From: "Arbor <arbor@example.org>", BaseURL: base})
	testkit.NoError(t, err)
	return c
}
