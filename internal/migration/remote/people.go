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

// Bounds of people, who are kept in memory.
const (
	maxPeople = 1 << 18
	maxLogin  = 255 // bytes
	maxName   = 255 // characters
)

// Login notes that a record names a user and returns the login. It returns an empty string for ghost, for no user,
// for a login that is too long, and when the list of people is full.
func (p People) Login(u *User) string {
	if u == nil || u.Login == "" || len(u.Login) > maxLogin || strings.EqualFold(u.Login, "ghost") {
		return ""
	}
	name := migration.Clip(u.FullName, maxName)
	if p[u.Login] == nil {
		if len(p) == maxPeople {
			return ""
		}
		one := &migration.Person{Login: strings.Clone(u.Login), Type: migration.Clip(u.Type, maxName), Name: name}
		if _, host, ok := strings.Cut(strings.TrimSuffix(u.Login, "]"), "["); ok && u.Type == "Mannequin" {
			one.Host = host
		}
		p[one.Login] = one
	}
	p[u.Login].Name = cmp.Or(p[u.Login].Name, name)
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
