package migration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// ReadMap reads a map of people: each line has the login at the source and the login here. Lines that begin with #
// are comments.
func ReadMap(in io.Reader) (map[string]string, error) {
	people := map[string]string{}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d of the map: want the login there and the login here", n)
		}
		there := account.Fold(fields[0])
		if _, twice := people[there]; twice {
			return nil, fmt.Errorf("line %d of the map: %q comes twice", n, fields[0])
		}
		people[there] = fields[1]
	}
	return people, lines.Err()
}

// people assigns an account here to each person of the source. It keeps one entry per person in memory.
type people struct {
	im       *importer
	host     string
	byMap    map[string]string // the map; folded logins there
	records  map[string]*Person
	accounts map[string]account.ID // by folded login there
	logins   map[string]string     // of those matched: folded login there, and login here
	ghost    account.ID
}

// hostOf returns the host that mannequins of a source have.
func hostOf(source string) string {
	if u, err := url.Parse(source); err == nil && u.Host != "" {
		return account.HostName(u.Host)
	}
	return "elsewhere"
}

// load reads the records of people, and finds those that the map or a verified address names. Only a map gives
// records to a site administrator: an address is what a source says. Errors: 422 for a map that names nobody here.
func (p *people) load(ctx context.Context) error {
	err := p.im.src.Records(ctx, People, func(r Record, err error) error {
		if err == nil && r.Key() == "" {
			err = fmt.Errorf("a person without a login")
		}
		if err != nil {
			p.im.report.problem("%v", err)
			return nil
		}
		p.records[account.Fold(r.Key())] = r.(*Person)
		return nil
	})
	if err != nil {
		return err
	}
	return p.im.s.DB.Read(ctx, func(tx *db.Tx) error {
		for _, there := range sortedKeys(p.byMap) {
			a, err := account.ByLogin(tx, p.byMap[there])
			if errs.Is(err, errs.NotFound) || err == nil && a.Kind != account.User && a.Kind != account.Bot {
				return errs.Newf(errs.Invalid, "the map assigns %s to user %q, who does not exist here", there,
					p.byMap[there])
			}
			if err != nil {
				return err
			}
			p.match(there, a)
		}
		if p.im.o.ByMap {
			return nil
		}
		return p.byAddress(tx)
	})
}

func (p *people) match(there string, a *account.Account) {
	p.accounts[there], p.logins[there] = a.ID, a.Login
	p.im.report.Matched[there] = a.Login
}

// byAddress matches people who verified the same address here.
func (p *people) byAddress(tx *db.Tx) error {
	of := map[string]string{}
	for _, there := range sortedKeys(p.records) {
		r := p.records[there]
		if p.accounts[there] != 0 || r.Type != "" && r.Type != account.User.String() {
			continue
		}
		for _, address := range r.Emails[:min(len(r.Emails), 20)] {
			of[account.Fold(address)] = there
		}
	}
	return db.InParts(sortedKeys(of), func(part []string) error {
		found, err := account.ByVerified(tx, part)
		for _, address := range part {
			if a := found[address]; a != nil && a.Kind == account.User && !a.SiteAdmin && p.accounts[of[address]] == 0 {
				p.match(of[address], a)
			}
		}
		return err
	})
}

// ensureAccounts makes sure that there is an account for each of the logins.
func (p *people) ensureAccounts(ctx context.Context, logins []string) error {
	var list []account.Origin
	seen := map[string]bool{}
	for _, login := range logins {
		there := account.Fold(login)
		if there == "" || p.accounts[there] != 0 || seen[there] {
			continue
		}
		seen[there] = true
		list = append(list, p.origin(login))
	}
	if len(list) == 0 && p.ghost != 0 {
		return nil
	}
	if p.im.o.DryRun {
		for _, o := range list {
			p.accounts[account.Fold(o.Login)] = -1
			p.im.report.Mannequins = append(p.im.report.Mannequins, o.Login+" at "+o.Host)
		}
		return nil
	}
	if most := p.im.o.MostPeople; most > 0 && len(p.im.report.Mannequins)+len(list) > most {
		return errs.Newf(errs.Invalid, "the source names more than %d people: an import by the command arbor import has no "+
			"such limit", most)
	}
	made := map[string]account.ID{}
	var ghost account.ID
	err := p.im.s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		if ghost, err = account.GhostID(tx); err != nil {
			return err
		}
		if err := p.im.allowed(tx, int64(len(list))*rowBytes); err != nil {
			return err
		}
		clear(made)
		for _, o := range list {
			one, err := account.MakeMannequins(tx, []account.Origin{o})
			if err != nil {
				return err
			}
			for _, id := range one {
				made[account.Fold(o.Login)+" "+o.Host] = id
				if err := account.NameMannequin(tx, id, int64(p.im.a.ID)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.ghost = ghost
	for _, login := range logins {
		there := account.Fold(login)
		if there == "" || p.accounts[there] != 0 {
			continue
		}
		o := p.origin(login)
		p.accounts[there] = made[account.Fold(o.Login)+" "+o.Host]
		p.im.report.Mannequins = append(p.im.report.Mannequins, o.Login+" at "+o.Host)
	}
	return nil
}

// origin returns the host and login for a mannequin here. A person who is a mannequin at the source keeps that
// host.
func (p *people) origin(login string) account.Origin {
	o := account.Origin{Host: p.host, Login: login}
	r := p.records[account.Fold(login)]
	if r == nil {
		return o
	}
	o.Name = clip(r.Name)
	if r.Type == account.Mannequin.String() && r.Host != "" && !p.im.o.ByMap { // else a source could speak for others
		o.Host = account.HostName(r.Host)
		o.Login, _, _ = strings.Cut(login, "[")
		o.Name = ""
	}
	return o
}

// id returns the account of a login that was passed to know before; ghost for an empty or unknown login.
func (p *people) id(login string) account.ID {
	if id := p.accounts[account.Fold(login)]; login != "" && id != 0 {
		return id
	}
	return p.ghost
}

// orNone is id for a column that may be empty.
func (p *people) orNone(login string) account.ID {
	if login == "" {
		return 0
	}
	return p.id(login)
}

// matched reports whether a login is that of somebody with an account here.
func (p *people) matched(login string) bool { return p.logins[account.Fold(login)] != "" }
