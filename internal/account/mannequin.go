package account

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/db"
	"arbor/internal/web"
)

// A mannequin is the author of imported texts whose author on the other server has no known account here. It never
// signs in, has no role, owns nothing, is not notified, and is in no list or search of people. Its login cannot be
// registered by anybody: it ends in the other server's host in brackets.
//
// What becomes of a mannequin:
//
//	its repositories are deleted          it stays: other repositories may name it; owners of organizations see those
//	                                      of their repositories (Service.MannequinsOfEach)
//	somebody claims it                    all its rows become that user's, and it goes (forge.Forge.ClaimMannequin)
//	somebody registers its login          is another account, since a login has no brackets

// maxHost is the greatest length of the host of a mannequin.
const maxHost = 100

// Origin is somebody of another server.
type Origin struct {
	Host  string // of the other server, as HostName returns it
	Login string // there
	Name  string // empty: unknown
}

// HostName brings the host of an address into the form that logins of mannequins have; "" if there is none.
func HostName(host string) string {
	host = strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '.', c == '-':
			return c
		case 'A' <= c && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '-'
	}, host)
	if host = host[:min(len(host), maxHost)]; host == "bot" { // as Apps have it
		return "bot-"
	}
	return host
}

func plausibleHost(host string) bool { return host != "" && HostName(host) == host }

// login is the login of the mannequin. Characters that no login has are replaced.
func (o Origin) login() string {
	name := strings.Map(func(c rune) rune {
		if c < 128 && spelled(string(c)) {
			return c
		}
		return '-'
	}, o.Login)
	return name[:min(len(name), MaxLogin)] + "[" + o.Host + "]"
}

// numbered is a login with a number behind it, of a length that a login may have.
func numbered(login string, n int64) string {
	end := "-" + strconv.FormatInt(n, 10)
	return login[:min(len(login), MaxLogin-len(end))] + end
}

// MakeMannequins returns the mannequins of people, which are made where they are missing. Keys are folded logins of
// the other server.
func MakeMannequins(tx *db.Tx, list []Origin) (map[string]ID, error) {
	found := map[string]ID{}
	for _, o := range list {
		if o.Login == "" || found[Fold(o.Login)] != 0 {
			continue
		}
		id, err := mannequin(tx, o)
		if err != nil {
			return nil, err
		}
		found[Fold(o.Login)] = id
	}
	return found, nil
}

// mannequin finds or makes one.
func mannequin(tx *db.Tx, o Origin) (ID, error) {
	id, err := mannequinOf(tx, o)
	if err != nil || id != 0 {
		return id, err
	}
	a := &Account{Login: o.login(), Kind: Mannequin}
	name := o.Name
	if name == "" {
		name = o.Login
	}
	name += " at " + o.Host
	a.Name = &name
	if err := insertMannequin(tx, a, o); err != nil {
		return 0, err
	}
	return a.ID, nil
}

// MannequinsOfEach returns a page of mannequins for each organization that the caller owns: those that
// imports named in its repositories and that nobody has claimed. It leaves out other organizations, and runs
// a fixed number of statements.
func (s *Service) MannequinsOfEach(
	ctx context.Context, caller *Caller, orgs []ID, l MannequinList, p web.Page,
) (out map[ID]*web.List[*Simple], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		may, err := AccessTo(tx, caller, orgs)
		if err != nil {
			return err
		}
		owned := slices.DeleteFunc(slices.Clone(orgs), func(id ID) bool { return !may[id].Owner })
		found, err := mannequinsOfEach(tx, owned, l, p)
		if err != nil {
			return err
		}
		people, err := ByIDs(tx, db.ListedIDs(found))
		out = web.ListOfEach(p, found, func(r db.ListRow[ID]) (*Simple, bool) {
			return NewSimple(people[r.ID], web.From(ctx)), people[r.ID] != nil
		})
		return err
	})
	return out, err
}
