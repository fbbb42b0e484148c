package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	netmail "net/mail"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// Config is the mail server, and who sends.
type Config struct {
	Host     string
	Port     int
	TLS      string // STARTTLS, TLS or None
	User     string // empty: the server asks for none
	Password string
	From     netmail.Address
	BaseURL  string // of links: scheme and host
	Reply    string // the address for replies, with %s for a token (package reply); empty: nobody reads them

	Roots *x509.CertPool // whose certificates count, for tests; nil: the system's
}

// How a connection is encrypted.
const (
	STARTTLS = "starttls" // required after the connection is made
	TLS      = "tls"      // from the first byte
	None     = "none"     // to this machine alone
)

// Settings are what an operator sets.
type Settings struct {
	Server       string // HOST:PORT
	TLS          string
	User         string
	PasswordFile string // empty: none
	From         string // an address, with or without a name
	BaseURL      string
}

// maxPassword is the size of a file with a password, in bytes.
const maxPassword = 4096

// NewConfig checks settings, and reads the password.
func NewConfig(s Settings) (*Config, error) {
	host, port, err := net.SplitHostPort(s.Server)
	if err != nil || host == "" {
		return nil, fmt.Errorf("the server must be HOST:PORT, such as mail.example.org:587, not %q", s.Server)
	}
	c := &Config{Host: host, TLS: s.TLS, User: s.User, BaseURL: s.BaseURL}
	if c.Port, err = strconv.Atoi(port); err != nil || c.Port < 1 || c.Port > 65535 {
		return nil, fmt.Errorf("invalid port %q", port)
	}
	from, err := netmail.ParseAddress(s.From)
	if err != nil {
		return nil, fmt.Errorf("the sender must be an address, such as arbor@example.org, not %q", s.From)
	}
	c.From = *from
	switch {
	case s.BaseURL == "":
		return nil, errors.New("--base-url must be set: the links in mails lead there")
	case c.TLS == None && !isLoopback(host):
		return nil, fmt.Errorf("without TLS mail is sent only to this machine, not to %q", host)
	case (s.User == "") != (s.PasswordFile == ""):
		return nil, errors.New("a user needs a file with its password, and a file a user")
	case s.PasswordFile == "":
		return c, nil
	}
	c.Password, err = readPassword(s.PasswordFile)
	return c, err
}

func readPassword(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPassword+1))
	if err != nil {
		return "", err
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" || len(text) > maxPassword {
		return "", fmt.Errorf("%s has no password of at most %d bytes", path, maxPassword)
	}
	return password, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Site is the host of links, which ends message ids.
func (c *Config) Site() string {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return c.Host
	}
	return u.Hostname()
}

// stepTime bounds making a connection, and sending one message.
const stepTime = 30 * time.Second

// connection is a connection to the mail server. It is closed when its context is done.
type connection struct {
	client *gomail.Client
	raw    net.Conn
	stop   func() bool
}

// dial connects, and signs in.
func (c *Config) dial(ctx context.Context) (*connection, error) {
	made := &connection{}
	config := &tls.Config{ServerName: c.Host, MinVersion: tls.VersionTLS12, RootCAs: c.Roots}
	options := []gomail.Option{gomail.WithPort(c.Port), gomail.WithTimeout(stepTime), gomail.WithTLSConfig(config),
		gomail.WithHELO(c.Site()),
		gomail.WithDialContextFunc(func(ctx context.Context, network, address string) (conn net.Conn, err error) {
			if c.TLS == TLS {
				conn, err = (&tls.Dialer{Config: config}).DialContext(ctx, network, address)
			} else {
				conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
			}
			made.raw = conn
			return conn, err
		})}
	switch c.TLS {
	case TLS:
		options = append(options, gomail.WithSSL())
	case STARTTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	}
	if c.User != "" {
		options = append(options, gomail.WithSMTPAuthCustom(&signIn{config: c}))
	}
	var err error
	if made.client, err = gomail.NewClient(c.Host, options...); err != nil {
		return nil, err
	}
	if err := made.client.DialWithContext(ctx); err != nil {
		if made.raw != nil {
			made.raw.Close()
		}
		return nil, err
	}
	made.stop = context.AfterFunc(ctx, func() { made.raw.Close() })
	return made, nil
}

// signIn signs in by PLAIN, or by LOGIN where a server offers that alone. The connection is encrypted, or to this machine.
type signIn struct {
	config *Config
	smtp.Auth
}

// Start implements smtp.Auth.
func (s *signIn) Start(server *smtp.ServerInfo) (proto string, toServer []byte, err error) {
	c, plain := s.config, s.config.TLS == None
	s.Auth = smtp.PlainAuth("", c.User, c.Password, c.Host, plain)
	if !slices.Contains(server.Auth, "PLAIN") && slices.Contains(server.Auth, "LOGIN") {
		s.Auth = smtp.LoginAuth(c.User, c.Password, c.Host, plain)
	}
	return s.Auth.Start(server)
}

// send sends one message. broken reports that the connection can send no more.
func (c *connection) send(m *gomail.Msg) (broken bool, err error) {
	err = c.client.Send(m)
	if err == nil || m.IsDelivered() {
		return err != nil, nil
	}
	const closing = 421 // of the whole connection
	failed, is := errors.AsType[*gomail.SendError](err)
	return !is || failed.ErrorCode() == 0 || failed.ErrorCode() == closing, err
}

// close ends the connection. The server need not answer.
func (c *connection) close() {
	c.stop()
	_ = c.raw.SetDeadline(time.Now().Add(time.Second))
	_ = c.client.Close()
	c.raw.Close()
}

// Check connects to the mail server, signs in, and says what is wrong.
func (c *Config) Check(ctx context.Context) error {
	made, err := c.dial(ctx)
	if err != nil {
		return err
	}
	made.close()
	return nil
}

// Send sends one message now, to try the settings.
func (c *Config) Send(ctx context.Context, m *Message) error {
	built, err := m.build(c)
	if err != nil {
		return err
	}
	made, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer made.close()
	_, err = made.send(built)
	return err
}
