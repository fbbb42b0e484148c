package repos_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/app"
	"arbor/internal/scope"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// credential is something that git signs in with, and what it opens of two repositories.
type credential struct {
	name, secret string   // of a token or password; empty: a key
	env          []string // git's, with a key for SSH

	readsPublic, writesPublic, readsPrivate, writesPrivate bool
}

// Clone, fetch and push do what each kind of credential says, in each version of git's protocol, whether
// git is asked for the credential or sends it with every request, as actions/checkout has it do. A request
// that wants more than the one before it breaks a clone in its middle.
func TestGitWithEachCredential(t *testing.T) {
	t.Parallel()
	needSSH(t)
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		for name, private := range map[string]bool{"public": false, "private": true, "other": true} {
			w.Repo(t, "alice/"+name, private)
			w.Check(t, apitest.Case{Do: "PUT /repos/alice/" + name + "/contents/a", As: "alice", Status: 201,
				Send: `{"message":"m","content":"YQ=="}`})
		}
		for _, c := range append(tokens(t, w), keys(t, w)...) {
			t.Run(c.name, func(t *testing.T) {
				for _, protocol := range []string{"0", "1", "2"} {
					if c.secret == "" {
						c.try(t, w, "ssh://git@"+w.address, protocol)
						continue
					}
					sent := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + c.secret))
					c.try(t, w, w.URL, protocol, "-c", "http.extraHeader=Authorization: basic "+sent)
				}
				if c.secret != "" { // git reads public data before it sends credentials
					c.readsPublic = true
					at := strings.Replace(w.URL, "://", "://x-access-token:"+c.secret+"@", 1)
					c.try(t, w, at, "2")
				}
			})
		}
	})
}

// try clones, pushes a branch and fetches it, of both repositories.
func (c *credential) try(t *testing.T, w *world, at, protocol string, options ...string) {
	t.Helper()
	dir := t.TempDir()
	env := append(gittest.Env(), c.env...)
	options = append(options, "-c", "protocol.version="+protocol)
	git := func(wanted bool, what string, args ...string) bool {
		t.Helper()
		out, err := try(t, dir, env, "git", append(options[:len(options):len(options)], args...)...)
		if (err == nil) != wanted {
			t.Errorf("%s, protocol %s, %s: %v, wanted %v: %s", at, protocol, what, err, wanted, out)
		}
		return err == nil
	}
	run(t, dir, env, "git", "init", "-q", "made")
	run(t, dir, env, "git", "-C", "made", "commit", "-q", "--allow-empty", "-m", "made")
	for _, on := range []struct {
		name         string
		reads, write bool
	}{{"public", c.readsPublic, c.writesPublic}, {"private", c.readsPrivate, c.writesPrivate}} {
		remote := at + "/alice/" + on.name + ".git"
		cloned := git(on.reads, "clone of "+on.name, "clone", "-q", remote, on.name)
		branch := fmt.Sprintf("b%d", len(w.Log.Requests()))
		pushed := git(on.write, "push to "+on.name, "-C", "made", "push", "-q", remote, "HEAD:refs/heads/"+branch)
		if cloned && pushed {
			git(true, "fetch of "+on.name, "-C", on.name, "fetch", "-q", remote, branch)
		}
	}
}

// tokens are all that git sends over HTTP.
func tokens(t *testing.T, w *world) []credential {
	t.Helper()
	chosen := func(name string, changes bool) string {
		t.Helper()
		token, _, err := w.Forge.Tokens.CreateToken(t.Context(), token.NewToken{Login: "alice", Changes: changes,
			Repos: []int64{int64(w.Access(t, "alice", "alice/"+name).ID)}})
		testkit.NoError(t, err)
		return token
	}
	installed := func(permissions, body string, names ...string) string {
		t.Helper()
		a := w.NewApp(t, "alice", app.Manifest{Name: strings.NewReplacer("=", " ", ",", " ").Replace(
			permissions + fmt.Sprint(len(body), len(names))), Permissions: apitest.Permissions(permissions)})
		return a.Token(t, a.Install(t, "alice", names...).ID, body)
	}
	const password = "a-long-secret"
	testkit.NoError(t, w.Forge.Sessions.SetPassword(t.Context(), "alice", password, nil))
	return []credential{
		{"classic, repo", w.Scoped(t, "alice", "repo"), nil, true, true, true, true},
		{"classic, public_repo", w.Scoped(t, "alice", "public_repo"), nil, true, true, false, false},
		{"classic, read:org", w.Scoped(t, "alice", "read:org"), nil, true, false, false, false},
		{"device flow", deviceToken(t, w), nil, true, true, true, true},
		{"fine-grained, writes", chosen("private", true), nil, true, false, true, true},
		{"fine-grained, reads", chosen("private", false), nil, true, false, true, false},
		{"fine-grained, of another", chosen("other", true), nil, true, false, false, false},
		{"installation, writes", installed("contents=write", ""), nil, true, true, true, true},
		{"installation, reads", installed("contents=read", ""), nil, true, false, true, false},
		{"installation, limited to reading", installed("contents=write,issues=write",
			`{"permissions":{"contents":"read"}}`), nil, true, false, true, false},
		{"installation, without contents", installed("issues=write", ""), nil, true, false, false, false},
		{"installation on one", installed("contents=write", "", "private"), nil, true, false, true, true},
		{"installation, limited to one", installed("contents=write,issues=read",
			`{"repositories":["private"]}`), nil, true, false, true, true},
		{"installation on another", installed("contents=write,checks=read", "", "other"), nil, true, false, false,
			false},
		{"password", password, nil, false, false, false, false},
	}
}

// deviceToken is what a program gets when a person confirmed its code.
func deviceToken(t *testing.T, w *world) string {
	t.Helper()
	const client = "178c6fc778ccc68e1d6a"
	codes, err := w.Forge.Tokens.AskDevice(t.Context(), token.DeviceAsk{Client: client, Scopes: scope.Repo})
	testkit.NoError(t, err)
	alice := &account.Caller{ID: w.Access(t, "alice", "alice/public").OwnerID, Login: "alice", Session: true}
	if _, err := w.Forge.Tokens.ConfirmDevice(t.Context(), alice, codes.User, ""); err != nil {
		t.Fatal(err)
	}
	issued, err := w.Forge.Tokens.TakeDevice(t.Context(), client, codes.Device, "")
	testkit.NoError(t, err)
	return issued.Value
}

// keys are what git signs in with over SSH.
func keys(t *testing.T, w *world) []credential {
	t.Helper()
	deploy := func(name, more string) []string {
		t.Helper()
		return w.openSSHWith(t, name, func(public string) {
			w.Check(t, apitest.Case{Do: "POST /repos/alice/private/keys", As: "alice", Status: 201,
				Send: fmt.Sprintf(`{"title":"t","key":%q%s}`, public, more)})
		})
	}
	return []credential{
		{"key of a user", "", w.openSSH(t, "alice"), true, true, true, true},
		{"deploy key, writes", "", deploy("writes", ""), false, false, true, true},
		{"deploy key, reads", "", deploy("reads", `,"read_only":true`), false, false, true, false},
	}
}

// git-lfs asks at these addresses when it pushes and fetches, also on a server where Git LFS is off. After a 404 it
// goes on without locks, or says that the server has no LFS; a 401 or 403 has it ask for another password.
func TestLFSIsAbsent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.Users(t, "alice", "bob")
		w.Bot(t, "reader", "alice", "contents=read")
		w.Bot(t, "labeler", "alice", "issues=write")
		w.Repo(t, "alice/public", false)
		w.Repo(t, "alice/private", true)
		for _, as := range []string{"alice", "bob", "reader[bot]", "labeler[bot]"} {
			for _, name := range []string{"public", "private"} {
				for do, send := range map[string]string{
					"POST %s/objects/batch": `{"operation":"download","transfers":["basic"],"objects":[]}`,
					"POST %s/locks/verify":  `{}`,
					"GET %s/locks":          "",
				} {
					w.Check(t, apitest.Case{Do: fmt.Sprintf(do, "/alice/"+name+".git/info/lfs"), As: as, Send: send,
						Headers: map[string]string{"Accept": "application/vnd.git-lfs+json",
							"Content-Type": "application/vnd.git-lfs+json"}, Status: 404})
				}
			}
		}
	}, func(o *server.Options) { o.LFSMaxObject = 0 })
}
