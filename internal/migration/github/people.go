package github

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/migration"
)

// user is GitHub's simple user.
type user struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

// people are those whom records name, by login.
type people map[string]*migration.Person

// login notes that a record names somebody, and returns the login; empty for ghost and nobody.
func (p people) login(u *user) string {
	if u == nil || u.Login == "" || u.Login == "ghost" {
		return ""
	}
	if p[u.Login] == nil {
		one := &migration.Person{Login: u.Login, Type: u.Type}
		if _, host, ok := strings.Cut(strings.TrimSuffix(u.Login, "]"), "["); ok && u.Type == "Mannequin" {
			one.Host = host
		}
		p[u.Login] = one
	}
	return u.Login
}

func (p people) logins(list []*user) (logins []string) {
	for _, u := range list {
		if login := p.login(u); login != "" {
			logins = append(logins, login)
		}
	}
	return logins
}

// profiles writes people. Names and addresses are asked of those who can be assigned: the members of the team. GitHub
// shows an address only if its owner has verified it and wants it shown.
func (s *Source) profiles(ctx context.Context) error {
	team := map[string]bool{}
	err := each(ctx, s.c, s.path+"/assignees", func(u *user) error {
		team[u.Login] = true
		return nil
	})
	if err != nil && !absent(err) {
		return err
	}
	for _, login := range slices.Sorted(maps.Keys(s.people)) {
		person := s.people[login]
		if team[login] {
			var profile struct{ Name, Email string }
			if err := s.c.get(ctx, "users/"+url.PathEscape(login), &profile); err != nil && !absent(err) {
				return err
			}
			if person.Name = profile.Name; profile.Email != "" {
				person.Emails = []string{profile.Email}
			}
		}
		if err := s.out.Add(migration.People, person); err != nil {
			return err
		}
	}
	return nil
}
