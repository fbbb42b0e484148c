package external

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Condition is that a column of a list has a value.
type Condition struct {
	Column Column
	Value  any
}

// Column is what lists of people and groups can be filtered by.
type Column string

// The columns. Values of those without regard to case are folded by [ListPeople] and [ListGroups].
const (
	ByID          Column = "id"
	ByExternalID  Column = "subject"
	ByUserName    Column = "user_folded"
	ByDisplayName Column = "display_folded"
	ByActive      Column = "active"
	ByGroupName   Column = "name_folded"
	ByGroupID     Column = "external_id"
)

// where writes conditions as SQL after WHERE t.issuer = $1.
func where(table string, list []Condition, args *[]any) string {
	var b strings.Builder
	for _, c := range list {
		value := c.Value
		if text, is := value.(string); is && strings.HasSuffix(string(c.Column), "_folded") {
			value = fold(text)
		}
		*args = append(*args, value)
		b.WriteString(" AND " + table + "." + string(c.Column) + " = $" + strconv.Itoa(len(*args)))
	}
	return b.String()
}

// rowsAtOnce is how many ids a statement takes.
const rowsAtOnce = 500

// byPages calls fn with parts of ids, each as arguments from $2 on after first.
func byPages(ids []int64, first any, fn func(in string, args []any) error) error {
	for page := range slices.Chunk(ids, rowsAtOnce) {
		args := []any{first}
		for _, id := range page {
			args = append(args, id)
		}
		if err := fn(db.ValuesFrom(2, 1, len(page)), args); err != nil {
			return err
		}
	}
	return nil
}

const personColumns = `SELECT u.id, u.subject, u.user_name, u.active, u.admin, u.attributes, u.created_at, u.updated_at, `

const selectPeople = personColumns + `COALESCE(a.id, 0), COALESCE(a.login, '') FROM scim_users u
	LEFT JOIN identities i ON i.issuer = u.issuer AND i.subject = u.subject LEFT JOIN accounts a ON a.id = i.account_id`

func scanPerson(row db.Scanner) (*Person, error) {
	p := &Person{}
	err := row.Scan(&p.ID, &p.Subject, &p.UserName, &p.Active, &p.Admin, &p.Attributes, &p.CreatedAt, &p.UpdatedAt,
		&p.Account, &p.Login)
	return p, err
}

// ListPeople returns people of a source by id, from the given place on, and how many match. With groups they have
// those that they are in, and never their accounts; then there may be fewer people than asked for, so that an
// answer has a size.
func (s *Service) ListPeople(
	ctx context.Context, of *Source, conditions []Condition, from, most int64, groups bool,
) (list []*Person, total int64, err error) {
	err = s.o.DB.Read(ctx, func(tx *db.Tx) error {
		args := []any{of.Issuer}
		match := ` WHERE u.issuer = $1` + where("u", conditions, &args)
		if err := tx.QueryRow(`SELECT count(*) FROM scim_users u`+match, args...).Scan(&total); err != nil {
			return err
		}
		n := len(args)
		list, err = db.QueryList(tx, scanPerson, personColumns+`0, '' FROM scim_users u`+match+` ORDER BY u.id LIMIT $`+strconv.Itoa(n+1)+
			` OFFSET $`+strconv.Itoa(n+2), append(args, most, from)...)
		if err != nil || !groups {
			return err
		}
		err = readGroupsOf(tx, list)
		for n, sum := 0, 0; n < len(list); n++ {
			if sum += len(list[n].Groups); sum > MaxMembers && n > 0 {
				list = list[:n]
			}
		}
		return err
	})
	return list, total, err
}

// Person returns a person of a source with groups. Error: 404.
func (s *Service) Person(ctx context.Context, of *Source, id int64) (p *Person, err error) {
	list, _, err := s.ListPeople(ctx, of, []Condition{{ByID, id}}, 0, 1, true)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errs.Absent()
	}
	return list[0], nil
}

// peopleByID reads people of a source.
func peopleByID(tx *db.Tx, of *Source, ids []int64) (list []*Person, err error) {
	err = byPages(ids, of.Issuer, func(in string, args []any) error {
		page, err := db.QueryList(tx, scanPerson, selectPeople+` WHERE u.issuer = $1 AND u.id IN `+in, args...)
		list = append(list, page...)
		return err
	})
	return list, err
}

// personBySubject finds the person of an identity; nil: the source provisioned none.
func personBySubject(tx *db.Tx, i *Identity) (*Person, error) {
	p, err := scanPerson(tx.QueryRow(selectPeople+` WHERE u.issuer = $1 AND u.subject = $2`, i.Source.Issuer, i.Subject))
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	return p, err
}

// holdPerson reads a person, and holds the row until the transaction ends. Error: 404.
func holdPerson(tx *db.Tx, of *Source, id int64) (*Person, error) {
	n, err := tx.Exec(`UPDATE scim_users SET active = active WHERE id = $1 AND issuer = $2`, id, of.Issuer)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return scanPerson(tx.QueryRow(selectPeople+` WHERE u.id = $1`, id))
}

// insertPerson stores a person, and sets the id and the times. Error: 409.
func insertPerson(tx *db.Tx, of *Source, p *Person) error {
	p.CreatedAt, p.UpdatedAt = tx.Now, tx.Now
	err := tx.QueryRow(`INSERT INTO scim_users (issuer, subject, user_name, user_folded, display_folded, active, admin,
			attributes, stale, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $9) ON CONFLICT DO NOTHING RETURNING id`, of.Issuer, p.Subject,
		p.UserName, fold(p.UserName), fold(p.Display), p.Active, p.Admin, p.Attributes, tx.Now).Scan(&p.ID)
	if errors.Is(err, db.ErrNoRows) {
		err = Refusal(errs.Conflict, Uniqueness, "a user with this userName or externalId exists")
	}
	return err
}

// updatePerson stores what may change of a person. Error: 409.
func updatePerson(tx *db.Tx, of *Source, p *Person, stale bool) error {
	p.UpdatedAt = tx.Now
	var taken bool
	err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM scim_users WHERE issuer = $1 AND user_folded = $2 AND id <> $3)`,
		of.Issuer, fold(p.UserName), p.ID).Scan(&taken)
	if err == nil && !taken {
		err = tx.Run(`UPDATE scim_users SET user_name = $2, user_folded = $3, display_folded = $4, active = $5, admin = $6,
			attributes = $7, updated_at = $8 WHERE id = $1`, p.ID, p.UserName, fold(p.UserName), fold(p.Display), p.Active,
			p.Admin, p.Attributes, tx.Now)
	}
	if taken || errors.Is(err, db.ErrUnique) {
		return Refusal(errs.Conflict, Uniqueness, "a user with this userName exists")
	}
	if err != nil || !stale {
		return err
	}
	return markStale(tx, []int64{p.ID})
}

// suspendedBySource returns since when an account is suspended because its source says so; zero: it is not.
func suspendedBySource(tx *db.Tx, i *Identity) (since db.Time, err error) {
	err = tx.QueryRow(`SELECT suspended_at FROM identities WHERE issuer = $1 AND subject = $2`, i.Source.Issuer, i.Subject).
		Scan(&since)
	return since, err
}

// noteSourceSuspended is noteSuspended by source and subject.
func noteSourceSuspended(tx *db.Tx, i *Identity, since db.Time) error {
	return tx.Run(`UPDATE identities SET suspended_at = $3 WHERE issuer = $1 AND subject = $2`, i.Source.Issuer, i.Subject,
		since)
}

// isProvisioned reports whether an identity of an account is that of a provisioned person.
func isProvisioned(tx *db.Tx, of account.ID, identity int64) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM identities i JOIN scim_users u ON u.issuer = i.issuer AND
		u.subject = i.subject WHERE i.id = $1 AND i.account_id = $2)`, identity, of).Scan(&is)
	return is, err
}

// isStale reports whether a person is to be followed.
func isStale(tx *db.Tx, id int64) (is bool, err error) {
	err = tx.QueryRow(`SELECT stale > 0 FROM scim_users WHERE id = $1`, id).Scan(&is)
	return is, err
}

// markStale notes that groups or roles of people have changed.
func markStale(tx *db.Tx, ids []int64) error {
	return byPages(ids, 1, func(in string, args []any) error {
		return tx.Run(`UPDATE scim_users SET stale = $1 WHERE id IN `+in, args...)
	})
}

// markLinked is markStale for the person of an identity that an account was linked with; a worker follows.
func markLinked(tx *db.Tx, i *Identity) error {
	if i.Source.Scim == nil {
		return nil
	}
	tx.Ring(followBell)
	return tx.Run(`UPDATE scim_users SET stale = 1 WHERE issuer = $1 AND subject = $2`, i.Source.Issuer, i.Subject)
}

// takeStale notes that somebody, who has a number, follows people, and returns those of them who were marked. Who
// followed them before finds that out at the end.
func takeStale(tx *db.Tx, claim int64, ids []int64) (taken []int64, err error) {
	err = byPages(ids, claim, func(in string, args []any) error {
		page, err := db.QueryIDs[int64](tx, `UPDATE scim_users SET stale = $1 WHERE stale > 0 AND id IN `+in+` RETURNING id`,
			args...)
		taken = append(taken, page...)
		return err
	})
	return taken, err
}

// setFollowed notes that people have what their groups and roles give. It marks and returns those whose groups
// changed again, and those whom somebody else followed at the same time: which state was applied last is not known.
func setFollowed(tx *db.Tx, claim int64, ids []int64) (again []int64, err error) {
	done := map[int64]bool{}
	err = byPages(ids, claim, func(in string, args []any) error {
		page, err := db.QueryIDs[int64](tx, `UPDATE scim_users SET stale = 0 WHERE stale = $1 AND id IN `+in+` RETURNING id`,
			args...)
		for _, id := range page {
			done[id] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if !done[id] {
			again = append(again, id)
		}
	}
	return again, markStale(tx, again)
}

// stalePeople lists people of a source who are to be followed, by id.
func stalePeople(tx *db.Tx, of *Source, after, most int64) ([]int64, error) {
	return db.QueryIDs[int64](tx, `SELECT id FROM scim_users WHERE issuer = $1 AND stale > 0 AND id > $2 ORDER BY id LIMIT $3`,
		of.Issuer, after, most)
}

// Provisions is what a source provisioned.
type Provisions struct {
	People, Active, Groups int64
	Last                   db.Time // when a user changed last; zero: never
}

// Provisions counts what a source provisioned.
func (s *Service) Provisions(ctx context.Context, of *Source) (n Provisions, err error) {
	return db.Get(ctx, s.o.DB, func(tx *db.Tx) (Provisions, error) { return ProvisionsIn(tx, of) })
}

// ProvisionsIn is Provisions in a transaction.
func ProvisionsIn(tx *db.Tx, of *Source) (n Provisions, err error) {
	err = tx.QueryRow(`SELECT count(*), COALESCE(sum(CASE WHEN active = TRUE THEN 1 ELSE 0 END), 0),
		COALESCE(max(updated_at), 0), (SELECT count(*) FROM scim_groups WHERE issuer = $1)
		FROM scim_users WHERE issuer = $1`, of.Issuer).Scan(&n.People, &n.Active, &n.Last, &n.Groups)
	return n, err
}

// Listed is a provisioned user or group for the operator.
type Listed struct {
	Issuer  string
	Name    string // userName or displayName
	Active  bool   // what the provider said last; true for a group
	Login   string // of the account; empty: none, or a group
	Members int64  // of a group
	Changed db.Time
}

// EachProvisioned calls fn with all users whom providers provisioned by id, or with their groups.
func EachProvisioned(ctx context.Context, d *db.DB, groups bool, fn func(Listed) error) error {
	const most = 1000
	query := `SELECT u.id, u.issuer, u.user_name, u.active, COALESCE(a.login, ''), 0, u.updated_at FROM scim_users u
		LEFT JOIN identities i ON i.issuer = u.issuer AND i.subject = u.subject LEFT JOIN accounts a ON a.id = i.account_id
		WHERE u.id > $1 ORDER BY u.id LIMIT $2`
	if groups {
		query = `SELECT g.id, g.issuer, g.name, TRUE, '', (SELECT count(*) FROM scim_members m WHERE m.group_id = g.id),
			g.updated_at FROM scim_groups g WHERE g.id > $1 ORDER BY g.id LIMIT $2`
	}
	for after, last := int64(0), int64(0); ; after = last {
		list, err := db.Get(ctx, d, func(tx *db.Tx) ([]Listed, error) {
			return db.QueryList(tx, func(row db.Scanner) (l Listed, err error) {
				err = row.Scan(&last, &l.Issuer, &l.Name, &l.Active, &l.Login, &l.Members, &l.Changed)
				return l, err
			}, query, after, most)
		})
		if err != nil {
			return err
		}
		for _, l := range list {
			if err := fn(l); err != nil {
				return err
			}
		}
		if len(list) < most {
			return nil
		}
	}
}

// CheckProvisioner reports why the provider of a source cannot provision: what `arbor doctor` asks. Empty: it can.
func CheckProvisioner(tx *db.Tx, of *Source) (problem string, err error) {
	a, err := account.ByLogin(tx, of.Scim.Account)
	switch {
	case errs.Is(err, errs.NotFound):
		return "the account that scim.account names does not exist", nil
	case err != nil:
		return "", err
	case a.Kind != account.User || !a.SiteAdmin:
		return "the account that scim.account names is not a site administrator", nil
	case !a.SuspendedAt.IsZero():
		return "the account that scim.account names is suspended", nil
	}
	return "", nil
}

// accountsIn is the condition that i.account_id is one of some; all of them for nil.
func accountsIn(ids []account.ID, args *[]any) string {
	if ids == nil {
		return ""
	}
	first := len(*args) + 1
	for _, id := range ids {
		*args = append(*args, id)
	}
	return ` AND i.account_id IN ` + db.ValuesFrom(first, 1, len(ids))
}
