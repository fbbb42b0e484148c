package remote

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"arbor/internal/migration"
)

// User is somebody in answers of a server.
type User struct {
	Login    string `json:"login"`
	Type     string `json:"type"`
	FullName string `json:"full_name"`
}

// People are those whom records name, by login.
type People map[string]*migration.Person

// Login notes that a record names somebody, and returns the login; empty for ghost and nobody.
func (p People) Login(u *User) string {
	if u == nil || u.Login == "" || strings.EqualFold(u.Login, "ghost") {
		return ""
	}
	if p[u.Login] == nil {
		one := &migration.Person{Login: u.Login, Type: u.Type, Name: u.FullName}
		if _, host, ok := strings.Cut(strings.TrimSuffix(u.Login, "]"), "["); ok && u.Type == "Mannequin" {
			one.Host = host
		}
		p[u.Login] = one
	}
	p[u.Login].Name = cmp.Or(p[u.Login].Name, u.FullName)
	return u.Login
}

// Logins is Login for a list.
func (p People) Logins(list []*User) (logins []string) {
	for _, u := range list {
		if login := p.Login(u); login != "" {
			logins = append(logins, login)
		}
	}
	return logins
}

// Sorted returns all of them by login.
func (p People) Sorted() []*migration.Person {
	list := make([]*migration.Person, 0, len(p))
	for _, login := range slices.Sorted(maps.Keys(p)) {
		list = append(list, p[login])
	}
	return list
}
