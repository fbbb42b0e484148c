package team

import (
	"context"
	"errors"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// columns are those of teams t, with the organization o and the parent p.
const columns = `t.id, t.org_id, o.login, t.name, t.slug, t.description, t.secret, t.quiet,
	t.created_at, t.updated_at,
	p.id, p.name, p.slug, p.description, p.secret, p.quiet`

const from = ` FROM teams t JOIN accounts o ON o.id = t.org_id LEFT JOIN teams p ON p.id = t.parent_id `

func scan(row db.Scanner, more ...any) (*Team, error) {
	var t Team
	var id *ID
	var name, slug *string
	p := Team{}
	var secret, quiet *bool
	t.Org.Kind = account.Organization
	err := row.Scan(append([]any{&t.ID, &t.Org.ID, &t.Org.Login, &t.Name, &t.Slug, &t.Description, &t.Secret,
		&t.Quiet,
		&t.CreatedAt, &t.UpdatedAt, &id, &name, &slug, &p.Description, &secret, &quiet}, more...)...)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	if err == nil && id != nil {
		p.ID, p.Org, p.Name, p.Slug, p.Secret, p.Quiet = *id, t.Org, *name, *slug, *secret, *quiet
		t.Parent = &p
	}
	return &t, err
}

// Seen is the condition that a member of the organization sees the team of the name t; who is an expression for the
// person's id. The names in it are its own.
func Seen(t string, owner bool, who string) string {
	if owner {
		return `CAST(` + who + ` AS BIGINT) IS NOT NULL` // as each argument must be used
	}
	return `(` + t + `.secret = FALSE OR EXISTS (SELECT 1 FROM team_members sm
		WHERE sm.team_id = ` + t + `.id AND sm.user_id = ` + who + `))`
}

// query reads teams; rest follows WHERE.
func query(tx *db.Tx, rest string, args ...any) ([]*Team, error) {
	return db.QueryList(tx, func(row db.Scanner) (*Team, error) { return scan(row) },
		`SELECT `+columns+from+`WHERE `+rest, args...)
}

// byRef finds a team. Error: 404.
func byRef(tx *db.Tx, ref Ref) (*Team, error) {
	if ref.ID != 0 {
		return scan(tx.QueryRow(`SELECT `+columns+from+`WHERE t.id = $1 AND (t.org_id = $2 OR $2 = 0)`,
			ref.ID, ref.OrgID))
	}
	if !account.Plausible(ref.Org) || len(ref.Slug) > 4*maxName {
		return nil, errs.Absent()
	}
	return scan(tx.QueryRow(`SELECT `+columns+from+`WHERE o.login_folded = $1 AND t.slug = $2`,
		account.Fold(ref.Org), account.Fold(ref.Slug)))
}

// pageOf reads a page of teams t that meet a condition, and how many do.
func pageOf(tx *db.Tx, where, order string, page web.Page, args ...any) (list []*Team, total int64,
	err error) {
	n := len(args)
	list, err = query(tx, where+` ORDER BY `+order+` LIMIT `+arg(n+1)+` OFFSET `+arg(n+2),
		append(args[:n:n], page.Size, page.Offset())...)
	if err != nil {
		return nil, 0, err
	}
	if total, known := page.Total(len(list)); known {
		return list, total, nil
	}
	err = tx.QueryRow(`SELECT count(*) FROM teams t WHERE `+where, args...).Scan(&total)
	return list, total, err
}

// insert stores a new team and sets its id. Errors: 422 for a name that is taken, and for too many.
func insert(tx *db.Tx, t *Team) error {
	var n int64
	if err := tx.QueryRow(`SELECT count(*) FROM teams WHERE org_id = $1`, t.Org.ID).Scan(&n); err != nil {
		return err
	}
	if n >= maxOfOrg {
		return errs.Newf(errs.Invalid, "An organization has %d teams at most.", maxOfOrg)
	}
	err := tx.QueryRow(`INSERT INTO teams (org_id, parent_id, name, slug, description, secret, quiet, created_at,
			updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT (org_id, slug) DO NOTHING RETURNING id`,
		t.Org.ID, db.OrNull(t.parentID()), t.Name, t.Slug, t.Description, t.Secret, t.Quiet,
		tx.Now).Scan(&t.ID)
	if errors.Is(err, db.ErrNoRows) {
		return taken()
	}
	return err
}

func (t *Team) parentID() ID {
	if t.Parent == nil {
		return 0
	}
	return t.Parent.ID
}

func taken() error {
	return errs.Validation(errs.Field{Resource: Resource, Field: "name", Code: errs.AlreadyExists,
		Message: "Name must be unique for this org"})
}

// update stores what an edit may change. Error: 422 for a name that is taken.
func update(tx *db.Tx, t *Team) error {
	var other ID
	err := tx.QueryRow(`SELECT id FROM teams WHERE org_id = $1 AND slug = $2 AND id <> $3`, t.Org.ID, t.Slug,
		t.ID).
		Scan(&other)
	if err == nil {
		return taken()
	}
	if !errors.Is(err, db.ErrNoRows) {
		return err
	}
	return tx.Run(`UPDATE teams SET parent_id = $2, name = $3, slug = $4, description = $5,
		secret = $6, quiet = $7,
		updated_at = $8 WHERE id = $1`,
		t.ID, db.OrNull(t.parentID()), t.Name, t.Slug, t.Description, t.Secret, t.Quiet, t.UpdatedAt)
}

// above returns a team and all teams above it, from the bottom up.
func above(tx *db.Tx, id ID) ([]ID, error) {
	return db.QueryIDs[ID](tx, `WITH RECURSIVE up (id, parent_id, depth) AS (
			SELECT id, parent_id, 0 FROM teams WHERE id = $1
			UNION ALL SELECT t.id, t.parent_id, up.depth + 1 FROM teams t JOIN up ON t.id = up.parent_id
				WHERE up.depth < $2)
		SELECT id FROM up ORDER BY depth`, id, maxDepth)
}

// down is the table down (id, depth) of the team $1 and all below it, as the beginning of a statement.
const down = `WITH RECURSIVE down (id, depth) AS (SELECT id, 1 FROM teams WHERE id = $1
	UNION ALL SELECT t.id, down.depth + 1 FROM teams t JOIN down ON t.parent_id = down.id
		WHERE down.depth < $2) `

// heightOf is how many teams are above each other from the team downwards.
func heightOf(tx *db.Tx, id ID) (n int, err error) {
	err = tx.QueryRow(down+`SELECT max(depth) FROM down`, id, maxDepth).Scan(&n)
	return n, err
}

// below returns a team and all teams below it, from the top down.
func below(tx *db.Tx, id ID) ([]*Team, error) {
	return db.QueryList(tx, func(row db.Scanner) (*Team, error) { return scan(row) },
		down+`SELECT `+columns+from+`JOIN down ON down.id = t.id ORDER BY down.depth, t.id`, id, maxDepth)
}

func hasChildren(tx *db.Tx, id ID) (bool, error) {
	var n int64
	err := tx.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM teams WHERE parent_id = $1 LIMIT 1) c`,
		id).Scan(&n)
	return n > 0, err
}

// Counts are the numbers that the full form of a team shows.
type Counts struct{ Members, Repos int64 }

// countsOf counts the people of teams, and the repositories that the caller may see, in two queries.
func countsOf(tx *db.Tx, caller *account.Caller, list []*Team) (map[ID]Counts, error) {
	if len(list) == 0 {
		return nil, nil
	}
	ids := make([]ID, len(list))
	for n, t := range list {
		ids[n] = t.ID
	}
	members, err := db.QueryMap[ID, int64](tx, `SELECT team_id, count(*) FROM team_members
		WHERE team_id IN `+db.Values(1, len(ids))+` GROUP BY team_id`, db.Args(ids)...)
	if err != nil {
		return nil, err
	}
	repos, err := db.QueryMap[ID, int64](tx, `WITH RECURSIVE up (id, above, depth) AS (
			SELECT id, id, 0 FROM teams WHERE id IN `+db.ValuesFrom(2, 1, len(ids))+`
			UNION ALL SELECT up.id, t.parent_id, up.depth + 1 FROM up JOIN teams t ON t.id = up.above
				WHERE t.parent_id IS NOT NULL AND up.depth < `+strconv.Itoa(maxDepth)+`)
		SELECT f.team, count(*)`+repo.FromVisibleIn(`SELECT DISTINCT up.id AS team, tr.repo_id AS id
			FROM up JOIN team_repos tr ON tr.team_id = up.above`, caller)+` GROUP BY f.team`,
		db.Args(ids, account.IDOf(caller))...)
	found := map[ID]Counts{}
	for _, id := range ids {
		found[id] = Counts{Members: members[id], Repos: repos[id]}
	}
	return found, err
}

// checkOwner reports whether the caller may create teams, for handlers that must say so before they read a body
// (decision 51). Errors: 403, 404.
func (s *Service) checkOwner(ctx context.Context, caller *account.Caller, org string) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		_, err := account.OwnedOrg(tx, caller, org)
		return err
	})
}
