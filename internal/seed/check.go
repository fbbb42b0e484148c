package seed

import (
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	"arbor/internal/account/key"
	"arbor/internal/account/signkey"
	"arbor/internal/account/token"
	"arbor/internal/repo"
	"arbor/internal/scope"
)

// checker finds what in a seed does not fit together, before anything is made.
type checker struct {
	s        *Seed
	problems []Problem
	users    map[string]*User // by the folded login
	orgs     map[string]*Org
	repos    map[string]*Repo // by the folded OWNER/NAME
}

// check reports what does not fit together, and fills in what was left out: times,
// authors, branches.
func (s *Seed) check() []Problem {
	c := &checker{s: s, users: map[string]*User{}, orgs: map[string]*Org{}, repos: map[string]*Repo{}}
	if s.Start.IsZero() {
		s.Start = Start
	}
	c.checkUsers()
	c.checkOrgs()
	c.checkRepos()
	c.checkPlants()
	return c.problems
}

func (c *checker) wrong(p *position, key, format string, args ...any) {
	c.problems = append(c.problems, p.problem(key, format, args...))
}

// login checks that a login is new and can be one.
func (c *checker) login(p *position, login string) (folded string, ok bool) {
	folded = account.Fold(login)
	if err := account.CheckLogin(login); err != nil {
		c.wrong(p, "login", "%v", err)
		return folded, false
	}
	if c.users[folded] != nil || c.orgs[folded] != nil {
		c.wrong(p, "login", "%q is declared above", login)
		return folded, false
	}
	return folded, true
}

func (c *checker) checkUsers() {
	tokens, keys := map[string]bool{}, map[string]bool{}
	for i := range c.s.Users {
		u := &c.s.Users[i]
		if u.CreatedAt.IsZero() {
			u.CreatedAt = c.s.Start
		}
		if folded, ok := c.login(&u.position, u.Login); ok {
			c.users[folded] = u
		}
		for j := range u.Keys {
			c.checkKey(&u.Keys[j], keys)
		}
		c.checkSigning(u.Signing)
		if err := factor.CheckSecret(u.TOTP); u.TOTP != "" && err != nil {
			c.wrong(&u.position, "totp", "%v", err)
		}
		for j := range u.Tokens {
			t := &u.Tokens[j]
			switch err := token.CheckToken(t.Value); {
			case err != nil:
				c.wrong(&t.position, "value", "%v", err)
			case tokens[t.Value]:
				c.wrong(&t.position, "value", "this token is declared above")
			}
			tokens[t.Value] = true
			if t.Scopes != nil {
				if _, err := scope.Parse(*t.Scopes); err != nil {
					c.wrong(&t.position, "scopes", "%v", err)
				}
			}
			if !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(u.CreatedAt) {
				c.wrong(&t.position, "expires_at", "is not after %s, when the token is made",
					u.CreatedAt.Format(time.RFC3339))
			}
		}
	}
}

func (c *checker) checkKey(k *Key, seen map[string]bool) {
	switch parsed, err := key.Parse(k.Text); {
	case err != nil:
		c.wrong(&k.position, "key", "%v", err)
	case seen[parsed.Fingerprint]:
		c.wrong(&k.position, "key", "this key is declared above")
	default:
		seen[parsed.Fingerprint] = true
	}
}

// checkSigning checks the keys with which a user signs.
func (c *checker) checkSigning(list []Key) {
	seen := map[string]bool{}
	for i := range list {
		k := &list[i]
		handle, err := signkey.NewKey{Kind: signkey.KindOf(k.Text), Name: k.Title, Text: k.Text}.Check()
		switch {
		case err != nil:
			c.wrong(&k.position, "key", "%v", err)
		case seen[handle]:
			c.wrong(&k.position, "key", "this key is declared above")
		}
		seen[handle] = true
	}
}

func (c *checker) checkOrgs() {
	for i := range c.s.Orgs {
		o := &c.s.Orgs[i]
		if o.CreatedAt.IsZero() {
			o.CreatedAt = c.s.Start
		}
		if folded, ok := c.login(&o.position, o.Login); ok {
			c.orgs[folded] = o
		}
		if len(o.Owners) == 0 {
			c.wrong(&o.position, "owners", "an organization has at least one owner")
		}
		seen := map[string]bool{}
		c.people(&o.position, "owners", o.Owners, seen)
		for j := range o.Members {
			m := &o.Members[j]
			c.known(&m.position, "login", m.Login)
			c.once(&m.position, "login", m.Login, seen)
		}
		c.checkTeams(o, seen)
		c.people(&o.position, "invitations", o.Invitations, seen)
	}
}

// checkTeams checks the teams of an organization, whose people belong has.
func (c *checker) checkTeams(o *Org, belong map[string]bool) {
	names := map[string]*Team{}
	for j := range o.Teams {
		t := &o.Teams[j]
		if names[t.Name] != nil {
			c.wrong(&t.position, "name", "the team %q is declared above", t.Name)
		}
		if p := names[t.Parent]; t.Parent != "" && (p == nil || p.Secret || t.Secret) {
			c.wrong(&t.position, "parent", "want the name of a team above, and neither of them secret")
		}
		names[t.Name] = t
		for key, logins := range map[string][]string{"maintainers": t.Maintainers, "members": t.Members} {
			for _, login := range logins {
				if c.known(&t.position, key, login) && !belong[account.Fold(login)] {
					c.wrong(&t.position, key, "%q is not a member of %s", login, o.Login)
				}
			}
		}
	}
}

// known checks that a login is a user's.
func (c *checker) known(p *position, key, login string) bool {
	folded := account.Fold(login)
	switch {
	case c.users[folded] != nil:
		return true
	case c.orgs[folded] != nil:
		c.wrong(p, key, "%q is an organization, not a user", login)
	default:
		c.wrong(p, key, "user %q not found", login)
	}
	return false
}

func (c *checker) once(p *position, key, name string, seen map[string]bool) {
	if folded := account.Fold(name); seen[folded] {
		c.wrong(p, key, "%q stands here twice", name)
	} else {
		seen[folded] = true
	}
}

// people checks a list of users.
func (c *checker) people(p *position, key string, logins []string, seen map[string]bool) {
	for _, login := range logins {
		c.known(p, key, login)
		c.once(p, key, login, seen)
	}
}

// orOwner checks the user who does something; it is the administrator of the repository
// unless the seed says so.
func (c *checker) orOwner(p *position, key string, login *string, r *Repo) {
	if *login == "" {
		*login = r.admin
	} else {
		c.known(p, key, *login)
	}
}

func (c *checker) checkRepos() {
	for i := range c.s.Repos {
		c.checkRepo(&c.s.Repos[i], i)
	}
	for i := range c.s.Repos {
		r := &c.s.Repos[i]
		if parent := c.repos[account.Fold(r.Fork)]; r.Fork != "" {
			c.checkFork(r, parent)
		}
	}
	// A fork has the branches of its parent, which may stand below it.
	for i := range c.s.Repos {
		r := &c.s.Repos[i]
		r.DefaultBranch = c.repos[account.Fold(r.line()[0])].DefaultBranch
	}
	for i := range c.s.Repos {
		c.checkHistory(&c.s.Repos[i])
	}
	for i := range c.s.Repos {
		c.checkTracker(&c.s.Repos[i])
		c.checkRules(&c.s.Repos[i])
	}
}

// checkRepo checks what the repository itself is.
func (c *checker) checkRepo(r *Repo, number int) {
	if r.CreatedAt.IsZero() {
		r.CreatedAt = c.s.Start.Add(time.Duration(number+1) * time.Minute)
	}
	owner, name, _ := strings.Cut(r.Name, "/")
	folded := account.Fold(owner)
	r.owner, r.short = owner, name
	switch {
	case repo.CheckName(name) != "":
		c.wrong(&r.position, "name", "must be OWNER/NAME: %s", repo.CheckName(name))
	case c.users[folded] != nil:
		r.admin = c.users[folded].Login
	case c.orgs[folded] != nil && len(c.orgs[folded].Owners) > 0:
		r.admin = c.orgs[folded].Owners[0]
	default:
		c.wrong(&r.position, "name", "user or organization %q not found", owner)
	}
	full := account.Fold(r.Name)
	if c.repos[full] != nil {
		c.wrong(&r.position, "name", "%q is declared above", r.Name)
	}
	c.repos[full] = r
	if r.DefaultBranch == "" {
		r.DefaultBranch = repo.DefaultBranch
	}
	for i := range r.Collaborators {
		p := &r.Collaborators[i]
		if c.known(&p.position, "", p.Login) && account.Fold(p.Login) == folded {
			c.wrong(&p.position, "", "the owner cannot be a collaborator")
		}
	}
	for i := range r.Invitations {
		p := &r.Invitations[i]
		invitee := account.Fold(p.Login)
		if c.known(&p.position, "", p.Login) && (invitee == folded || invitee == account.Fold(r.admin)) {
			c.wrong(&p.position, "", "the owner cannot be invited")
		}
	}
	c.people(&r.position, "stars", r.Stars, map[string]bool{})
	c.people(&r.position, "watchers", r.Watchers, map[string]bool{})
}

// checkFork checks that a fork can be one, and remembers whose.
func (c *checker) checkFork(r, parent *Repo) {
	switch {
	case parent == nil:
		c.wrong(&r.position, "fork", "repository %q not found", r.Fork)
		return
	case parent == r:
		c.wrong(&r.position, "fork", "a repository cannot be a fork of itself")
		return
	}
	for _, key := range []string{"private", "default_branch", "import", "files"} {
		if r.lines[key] > 0 {
			c.wrong(&r.position, key, "a fork has its parent's: give it branches or commits")
		}
	}
	r.parent = parent
	for p := parent; p != nil; p = p.parent {
		if p == r {
			c.wrong(&r.position, "fork", "the forks go in a circle")
			r.parent = nil
			return
		}
	}
}

func (c *checker) checkPlants() {
	seen := map[int64]bool{}
	for i := range c.s.Plants {
		p := &c.s.Plants[i]
		c.known(&p.position, "owner", p.Owner)
		if seen[*p.ID] {
			c.wrong(&p.position, "id", "the id %d is declared above", *p.ID)
		}
		seen[*p.ID] = true
	}
}
