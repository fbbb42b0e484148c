package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/certificate"
	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/durable"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/identity"
	"arbor/internal/mirror"
	"arbor/internal/packs"
	"arbor/internal/seed"
	"arbor/internal/server"
	"arbor/internal/signature"
	"arbor/internal/space"
	"arbor/internal/ssh"
)

type serveCommand struct {
	storeFlags
	serverFlags
	tlsFlags
	sshFlags
	Replica      string        `group:"Storage" help:"Hot standby of the PostgreSQL database, from which requests that change nothing read, see docs/nodes.md." placeholder:"URL"`
	Objects      string        `group:"Storage" help:"Where repositories and files (release assets, attachments, LFS) are kept: file:///PATH, or s3://BUCKET/PREFIX?endpoint=URL&region=NAME with keys from AWS_* variables, files or roles; see docs/nodes.md (default: the data folder)." placeholder:"URL"`
	CacheSize    freeSpace     `group:"Storage" help:"Size of the cache in the data folder for repositories that --objects keeps elsewhere; 0: no limit." default:"50GiB" placeholder:"SIZE"`
	ObjectsGrace time.Duration `group:"Storage" help:"How long --objects keeps packs that were replaced, and packs of deleted repositories: at least as far back as you may restore the database." default:"${objectsGrace}" placeholder:"DURATION"`
	BundleSize   freeSpace     `group:"Storage" help:"Offer clients most of a clone as a download from the bucket of --objects, for repositories whose packs take this much or more; 0: for none." default:"32MiB" placeholder:"SIZE"`
	Seed         string        `group:"Storage" help:"Fill an empty store from this YAML file, see docs/seed.md." placeholder:"FILE"`
	Ephemeral    bool          `group:"Storage" help:"Serve a temporary folder, removed when the server stops, and allow POST /admin/reset on --admin-listen." negatable:""`
}

// Run serves until the process receives a signal to stop, and then finishes the
// requests in flight.
func (c *serveCommand) Run(p *process) error {
	c.umask = p.umask
	if err := c.check(); err != nil {
		return err
	}
	if err := c.checkSSH(); err != nil {
		return err
	}
	if c.Ephemeral && c.Objects != "" {
		return misuse("--ephemeral keeps its store in a temporary folder: leave --objects out")
	}
	if c.ObjectsGrace < packs.LeastGrace {
		return misuse("--objects-grace is %v: set at least %v", c.ObjectsGrace, packs.LeastGrace)
	}
	if c.Objects != "" {
		canonical, err := depot.Canonical(c.Objects)
		if err != nil {
			return misuse("--objects: %v", err)
		}
		c.Objects = canonical
	}
	if c.Ephemeral && c.Replica != "" {
		return misuse("--ephemeral keeps its store in a temporary folder, in SQLite: leave --replica out")
	}
	if c.BundleSize < 0 {
		return misuse("--bundle-size must be a size, or 0")
	}
	if c.Ephemeral && c.Database != "" {
		return misuse("--ephemeral keeps its store in a temporary folder, in SQLite: leave --database out")
	}
	if err := c.checkTLS(c); err != nil {
		return err
	}
	log, closeLog := c.openLog(p.stderr)
	defer closeLog()
	outlive(log)
	var err error
	if c.front, err = c.openTLS(c, log); err != nil {
		return err
	}
	ready := func(address string) error {
		_, err := fmt.Fprintf(p.stdout, "arbor listens on %s\n", address)
		return err
	}
	var from *seed.Seed
	if c.Seed != "" {
		if from, err = seed.Load(c.Seed); err != nil {
			return err
		}
	}
	if c.Ephemeral {
		o := c.options(log)
		if c.ssh, o.SSH, err = c.openSSH(ssh.NewHostKeys, log); err != nil {
			return err
		}
		return c.serveEphemeral(p.ctx, from, o, ready)
	}
	c.serves, c.replica = true, c.Replica
	if from != nil {
		if err := c.fill(p.ctx, from, c.gitOptions(log), c.admission); err != nil {
			return err
		}
	}
	s, err := c.openStore(p.ctx, log)
	if err != nil {
		return err
	}
	o := c.options(log)
	if c.MinFreeSpace == nil { // a store that is to stay
		o.MinFree = space.Auto
	}
	if c.TextRate == nil {
		o.TextRate = defaultTextRate
	}
	o.Objects, o.CacheSize, o.BundleSize = c.Objects, int64(c.CacheSize), int64(c.BundleSize)
	o.ObjectsGrace = c.ObjectsGrace
	if err = c.useObjects(p.ctx, s, log); err == nil {
		err = c.openKeys(p.ctx, s, log, &o)
	}
	if err != nil {
		return errors.Join(err, s.close())
	}
	o.DB, o.Git, o.DataDir = s.db, s.git, s.dir
	if o.Node, err = s.db.Join(p.ctx, hostname(), version, log); err == nil {
		if s.db.Engine() == db.SQLite && o.Node.Others() > 0 {
			log.Warn("another server works on this SQLite database, or one died less than half a minute ago")
		}
		srv := server.New(o)
		if err = srv.Forge().Packs.Start(p.ctx); err == nil {
			err = c.serve(p.ctx, srv, func(address string) error {
				if err := ready(address); err != nil {
					return err
				}
				return c.invite(p, srv, address)
			})
		}
		if err != nil { // perhaps it never served: a port was taken
			err = errors.Join(err, o.Node.Leave(context.WithoutCancel(p.ctx)))
		}
	}
	return errors.Join(err, s.close())
}

// useObjects checks that the store's files are where --objects says. A place that does not answer now may answer
// later: everything else works without it.
func (c *serveCommand) useObjects(ctx context.Context, s *store, log *slog.Logger) error {
	offline, err := s.forge(log).Files.Use(ctx, c.Objects)
	if offline != nil {
		log.Error("--objects does not answer: requests for repositories and files that are not on this disk get a 503",
			"error", offline)
	}
	return err
}

// openKeys reads the keys of the store, and makes those that it never had.
func (c *serveCommand) openKeys(ctx context.Context, s *store, log *slog.Logger, o *server.Options) error {
	services := s.forge(log)
	files := services.Files
	files.Pin(o.Objects)
	known, err := s.awaitKeys(ctx, files)
	if err != nil {
		return err
	}
	if c.ssh, o.SSH, err = c.openSSH(keptKeys(c.Data), log); err != nil {
		return err
	}
	if c.ImageProxy {
		if o.ImageKey, err = durable.Key(filepath.Join(s.dir, "images")); err != nil {
			return err
		}
	}
	if o.LFSKey, err = durable.Key(filepath.Join(s.dir, "lfs")); err != nil {
		return err
	}
	if known[mirror.Folder] == "" { // one that was lost is not made again
		if _, err = durable.Key(filepath.Join(s.dir, mirror.Folder)); err != nil {
			return err
		}
	}
	// With a depot each node has a folder of its own, and would make a key of its own when it first signs.
	if o.Objects != "" && known[signature.Folder] == "" {
		if _, _, err = services.Signatures.PublicKey(); err != nil {
			return err
		}
	}
	err = s.leaveKeys(ctx, files)
	if errs.Is(err, errs.Unavailable) {
		log.Error("keys that other nodes need are not in the storage yet: the next start brings them there", "error", err)
		return nil
	}
	return err
}

// openStore opens the store. The first of several nodes makes it and chooses its bucket; the others may come then.
func (c *serveCommand) openStore(ctx context.Context, log *slog.Logger) (*store, error) {
	for began := time.Now(); ; {
		s, err := c.open(ctx, c.gitOptions(log))
		var other *identity.OtherFolderError
		if !errors.As(err, &other) || !other.Empty || c.Objects == "" || time.Since(began) > bondTime {
			return s, err
		}
		if err := git.Sleep(ctx, bondTime/120); err != nil {
			return nil, err
		}
	}
}

// hostname is this machine's name, for people who look at the list of nodes.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// defaultTextRate is in bytes: people write less in years, importers in an hour.
const defaultTextRate = 64 << 20

// served is a server.Server, or an ephemeral one.
type served interface {
	Serve(ctx context.Context, l net.Listener) error
	ServeAdmin(ctx context.Context, l net.Listener) error
	ServeSSH(ctx context.Context, l net.Listener) error
	Retire()
}

// serve answers on the listeners that the flags name until ctx is done, and for --shutdown-delay after that.
// ready is called with the address once it answers.
func (f *serverFlags) serve(ctx context.Context, srv served, ready func(address string) error) error {
	l, err := listen(f.Listen, f.umask)
	if err != nil {
		return err
	}
	if f.front.source != nil {
		l = certificate.Listen(l, f.front.source)
	}
	running := ctx
	ctx, stop := context.WithCancel(context.WithoutCancel(running))
	defer stop()
	defer context.AfterFunc(running, func() {
		srv.Retire()
		time.AfterFunc(f.ShutdownDelay, stop)
	})()
	g, ctx := errgroup.WithContext(ctx)
	if f.front.redirect != "" {
		plain, err := listen(f.front.redirect, f.umask)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		g.Go(func() error { return f.front.serveRedirect(ctx, plain, f.admission.Conns) })
	}
	if f.AdminListen != "" {
		admin, err := listen(f.AdminListen, f.umask)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		g.Go(func() error { return srv.ServeAdmin(ctx, admin) })
	}
	if f.ssh != nil {
		g.Go(func() error { return srv.ServeSSH(ctx, f.ssh) })
	}
	g.Go(func() error { return srv.Serve(ctx, l) })
	g.Go(func() error { return f.front.run(ctx) })
	g.Go(func() error { return ready(address(l, f.front.scheme())) })
	debug.FreeOSMemory() // of what the start took, which a server that does little would keep for minutes
	return g.Wait()
}

// host is the host of an address HOST:PORT, or empty.
func host(address string) string {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return name
}

// listen is server.Listen. A socket in the file system gets its mode by the umask with
// which the server was started: a proxy often has an account of its own.
func listen(address string, umask int) (net.Listener, error) {
	l, err := server.Listen(address)
	if err != nil {
		return nil, explainListen(address, err)
	}
	if l.Addr().Network() != "unix" {
		return l, nil
	}
	if err := os.Chmod(l.Addr().String(), os.FileMode(0o777&^umask)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// explainListen is the error of listening on an address, with what to do about it.
func explainListen(address string, err error) error {
	var wrong *net.AddrError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("invalid listen address %q: want HOST:PORT, such as 127.0.0.1:8080, or unix:PATH", address)
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("cannot listen on %s: the address is in use, perhaps by another arbor; choose another port",
			address)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("cannot listen on %s: permission denied; ports below 1024 need root or CAP_NET_BIND_SERVICE",
			address)
	}
	return err
}

// address is where a client finds the listener: an address to paste.
func address(l net.Listener, scheme string) string {
	if l.Addr().Network() == "unix" {
		return "unix:" + l.Addr().String()
	}
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return l.Addr().String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}
