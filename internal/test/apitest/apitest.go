// Package apitest runs tests against a real server: a random port, a fresh
// database of each engine, real repositories, real git.
//
//	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
//		s.User("alice")
//		s.Repo("alice/garden", false)
//		s.Run(t, []apitest.Case{
//			{Do: "GET /repos/alice/garden", Status: 200, Want: `{"full_name": "alice/garden"}`},
//		})
//	})
//
// People are made as the command line makes them: with their own handle on the
// store, while the server runs.
package apitest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/durable"
	"arbor/internal/external"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/hook/outgoing"
	"arbor/internal/lfs"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/server"
	"arbor/internal/signinfile"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Server is a server that answers, and the store behind it.
type Server struct {
	URL      string // without a slash at the end; on a Unix socket that of no host
	Address  string // that it listens on, as serve --listen takes it
	Engine   db.Engine
	DB       *db.DB
	Git      *git.Git
	Dir      string // the data folder
	Server   *server.Server
	Handler  http.Handler // the server, and in tests what watches it
	Forge    *forge.Forge // the test's own, which works on the store next to the server
	Accounts *account.Service
	Repos    *repo.Service
	Log      *Log
	Admitted *admission.Control // what the server's requests hold
	client   *http.Client

	mu     sync.Mutex
	tokens map[string]string // by login
}

// Option changes how the server is made.
type Option func(*server.Options)

// Each runs fn on a fresh server for each engine, in parallel.
func Each(t *testing.T, fn func(t *testing.T, s *Server), options ...Option) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) { fn(t, Start(t, engine, options...)) })
}

// Start serves a fresh database until the test ends. A stop that loses a
// request or leaves an error fails the test, and so does a 5xx that the test
// did not ask for with AllowErrors.
func Start(t testing.TB, engine db.Engine, options ...Option) *Server {
	t.Helper()
	return StartOn(t, engine, "127.0.0.1:0", options...)
}

// StartOn is Start at an address as serve --listen takes it.
func StartOn(t testing.TB, engine db.Engine, address string, options ...Option) *Server {
	t.Helper()
	l, err := server.Listen(address)
	testkit.NoError(t, err)
	return startOn(t, engine, address, l, options...)
}

// startOn is StartOn with a listener.
func startOn(t testing.TB, engine db.Engine, address string, l net.Listener, options ...Option) *Server {
	t.Helper()
	log := &Log{}
	o := server.Options{Log: slog.New(log), DataDir: t.TempDir(),
		Admission: admission.New(admission.DefaultMemory, nil), HookNetworks: outgoing.Loopback(),
		LFSMaxObject: lfs.DefaultMaxObject, FetchCache: 64 << 20,
		ImageKey: durable.NewKey(), ImageNetworks: outgoing.Loopback()}
	o.SignIn = &signinfile.Config{Provisioners: []*external.Source{{Name: "provisioner", Label: "provisioner",
		Issuer: "scim:provisioner", Way: "scim:provisioner", Accounts: external.Create,
		Scim: &external.Provisioning{Account: "chief"}}}} // the site administrator of package fixture
	o.Admission.Patience(testkit.Patience) // else a busy machine has tests refused that are not about that
	for _, option := range options {
		option(&o)
	}
	if o.Git == nil {
		o.Git = gittest.New(t, git.Options{
			Log: slog.New(log), Memory: o.Admission.GitMemory(), Admit: o.Admission.Child,
		})
	}
	g := o.Git
	if o.DB == nil {
		o.DB = dbtest.Open(t, engine)
	}
	s := &Server{
		Address: address, Engine: engine, DB: o.DB, Git: g, Dir: o.DataDir, Server: server.New(o), Log: log,
		Admitted: o.Admission,
		Forge:    forge.New(o.DB, g, slog.New(log), o.DataDir),
		tokens:   map[string]string{},
		client:   newClient(l.Addr()),
	}
	running := s.Server.Forge()
	running.Apps.NewKey = keyring()
	running.Pulls.Patience, running.Searches.Patience = testkit.Patience, testkit.Patience
	s.Handler = s.Server
	if _, bench := t.(*testing.B); !bench {
		s.Handler = newWatcher(t, s.Server)
	}
	if o.Objects != "" {
		offline, err := s.Forge.Files.Use(t.Context(), o.Objects)
		testkit.NoError(t, errors.Join(offline, err))
	}
	s.Accounts, s.Repos = s.Forge.Accounts, s.Forge.Repos
	s.URL = "http://socket.invalid"
	if l.Addr().Network() == "tcp" {
		s.Address, s.URL = l.Addr().String(), "http://"+l.Addr().String()
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Server.ServeHandler(ctx, l, s.Handler) }()
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server stopped with %v", err)
		}
		// a test merge may go on for nobody
		testkit.Eventually(t, func() bool { return g.Pinned() == 0 },
			"no repository is open: all release what repo.Service.Git gave them")
		for _, line := range log.Unexpected() {
			t.Errorf("the server logged an error that the test did not expect: %s", line)
		}
	})
	return s
}

// newClient is a client with its own connections that follows no redirect. It reaches a server on a Unix
// socket by any host name.
func newClient(at net.Addr) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	if at.Network() == "unix" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", at.String())
		}
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// WithoutRoom is a server on the same store, whose disk is nearly full.
func (s *Server) WithoutRoom() *server.Server {
	return server.New(server.Options{DB: s.DB, Git: s.Git, DataDir: s.Dir, MinFree: 1 << 60,
		Log: slog.New(slog.DiscardHandler)})
}

// Users registers users.
func (s *Server) Users(t testing.TB, logins ...string) {
	t.Helper()
	for _, login := range logins {
		s.User(t, login)
	}
}

// Settle waits until the workers have done what there is to do.
func (s *Server) Settle(t testing.TB) {
	t.Helper()
	testkit.NoError(t, s.Server.Settle(t.Context()))
}

// Tip is the commit that a branch of OWNER/NAME leads to.
func (s *Server) Tip(t testing.TB, as, name, branch string) string {
	t.Helper()
	var ref struct{ Object struct{ SHA string } }
	s.Check(t, Case{Do: "GET /repos/" + name + "/git/ref/heads/" + branch, As: as, Status: 200}).JSON(t, &ref)
	return ref.Object.SHA
}

// User registers a user with a token, which As uses.
func (s *Server) User(t testing.TB, login string) *account.Account { return s.user(t, login, false) }

// Admin registers a site administrator with a token.
func (s *Server) Admin(t testing.TB, login string) *account.Account { return s.user(t, login, true) }

func (s *Server) user(t testing.TB, login string, admin bool) *account.Account {
	t.Helper()
	made, err := s.Accounts.CreateUser(t.Context(), account.NewUser{Login: login, Admin: admin})
	testkit.NoError(t, err)
	token, _, err := s.Forge.Tokens.CreateToken(t.Context(),
		token.NewToken{Login: login, Note: "test", Scopes: scope.All})
	testkit.NoError(t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[login] = token
	return made
}

// Email adds a verified address to a user, which is matched with commits.
func (s *Server) Email(t testing.TB, login, address string) {
	t.Helper()
	err := s.Accounts.AddEmail(t.Context(), login, address)
	if err == nil {
		err = s.Accounts.VerifyEmail(t.Context(), login, address)
	}
	testkit.NoError(t, err)
}

// Org registers an organization.
func (s *Server) Org(t testing.TB, login, owner string) *account.Account {
	t.Helper()
	made, err := s.Accounts.CreateOrg(t.Context(), login, owner)
	testkit.NoError(t, err)
	return made
}

// Repo creates an empty repository named OWNER/NAME.
func (s *Server) Repo(t testing.TB, name string, private bool) *repo.Repo {
	t.Helper()
	owner, name, _ := strings.Cut(name, "/")
	made, err := s.Repos.Create(t.Context(), nil, repo.NewRepo{Owner: owner, Name: name, Private: private})
	testkit.NoError(t, err)
	return made
}

// ManyRepos creates count empty public repositories, r0 and on, without folders.
func (s *Server) ManyRepos(t testing.TB, owner string, n int) {
	t.Helper()
	err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
		by, err := account.ByLogin(tx, owner)
		for i := 0; i < n && err == nil; i++ {
			err = s.Forge.Create(tx, &repo.Repo{OwnerID: by.ID, Owner: *by, Name: fmt.Sprint("r", i),
				DefaultBranch: "main", HasIssues: true, CreatedAt: tx.Now, UpdatedAt: tx.Now,
				PushedAt: tx.Now}, nil)
		}
		return err
	})
	testkit.NoError(t, err)
}

// Grant grants a user a role on OWNER/NAME.
func (s *Server) Grant(t testing.TB, r *repo.Repo, login string, role account.Role) {
	t.Helper()
	testkit.NoError(t, s.Repos.Grant(t.Context(), r.ID, login, role))
}

// Team creates the organization garden of alice, with the public repository
// garden/plot and the private garden/shed: will may push to both, rae reads the
// private one, and sam is a stranger.
func (s *Server) Team(t testing.TB) {
	t.Helper()
	s.Users(t, "alice", "will", "rae", "sam")
	s.Org(t, "garden", "alice")
	s.Grant(t, s.Repo(t, "garden/plot", false), "will", account.Push)
	shed := s.Repo(t, "garden/shed", true)
	s.Grant(t, shed, "will", account.Push)
	s.Grant(t, shed, "rae", account.Pull)
}

// Access finds a repository named OWNER/NAME as somebody sees it.
func (s *Server) Access(t testing.TB, login, name string) *repo.Access {
	t.Helper()
	who, err := s.Accounts.Find(t.Context(), login)
	testkit.NoError(t, err)
	owner, name, _ := strings.Cut(name, "/")
	found, err := s.Repos.Find(t.Context(), &account.Caller{ID: who.ID, Login: who.Login}, owner, name)
	testkit.NoError(t, err)
	return &found.Access
}

// Token is the token of a user that this Server made.
func (s *Server) Token(t testing.TB, login string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	token, ok := s.tokens[login]
	if !ok {
		t.Fatalf("no user %q in this test", login)
	}
	return token
}

// Remote is the address of a repository for git, with a user's token in it; ""
// sends none.
func (s *Server) Remote(t testing.TB, login, repository string) string {
	t.Helper()
	if login == "" {
		return s.URL + "/" + repository + ".git"
	}
	return strings.Replace(s.URL, "://", "://"+login+":"+s.Token(t, login)+"@", 1) + "/" + repository + ".git"
}

// Objects are a repository's, for a test that looks at what the server stored.
func (s *Server) Objects(t testing.TB, id repo.ID) *git.Repository {
	t.Helper()
	return Objects(t, s.Repos, id)
}

// Objects is Server.Objects for a test that has the service alone. The result
// is not pinned, so the repository can be removed during its use.
func Objects(t testing.TB, repos *repo.Service, id repo.ID) *git.Repository {
	t.Helper()
	objects, release, err := repos.GitOf(t.Context(), id)
	testkit.NoError(t, err)
	release()
	return objects
}

// ObjectsDir is where a repository's objects are.
func (s *Server) ObjectsDir(t testing.TB, r *repo.Repo) string {
	t.Helper()
	return filepath.Join(s.Objects(t, r.ID).Dir(), "objects")
}

var errNoJSON = errors.New("the body is not JSON")
