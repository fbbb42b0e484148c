package team

import (
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/markdown"
	"arbor/internal/repo"
)

// Closed reads those of the teams that are not secret, by id, in one query.
func Closed(tx *db.Tx, ids []ID) (map[ID]*Team, error) {
	found := map[ID]*Team{}
	if len(ids) == 0 {
		return found, nil
	}
	ids = db.Unique(ids)
	list, err := query(tx, `t.secret = FALSE AND t.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
	for _, t := range list {
		found[t.ID] = t
	}
	return found, err
}

// ByNames finds teams by their names, ORG/SLUG, as far as the caller sees them, by folded name.
func ByNames(tx *db.Tx, caller *account.Caller, names []string) (map[string]ID, error) {
	found := map[string]ID{}
	if len(names) == 0 {
		return found, nil
	}
	var args []any
	for _, name := range names {
		org, slug, _ := strings.Cut(account.Fold(name), "/")
		args = append(args, org, slug)
	}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	who := arg(account.IDOf(caller))
	return found, db.QueryEach(tx, func(row db.Scanner) error {
		var id ID
		var org, slug string
		err := row.Scan(&id, &org, &slug)
		found[org+"/"+slug] = id
		return err
	}, `SELECT t.id, o.login_folded, t.slug FROM teams t JOIN accounts o ON o.id = t.org_id
		WHERE (o.login_folded, t.slug) IN (VALUES `+db.Values(len(names), 2)+`)
		AND `+seenBy(caller, who)+` AND `+account.InsideOrg(caller, "t.org_id", arg), args...)
}

// maxMentioned bounds the teams that one text mentions.
const maxMentioned = 10

// Mentioned finds the teams of the repository's owner that a text names and that the caller sees.
func Mentioned(tx *db.Tx, r *repo.Repo, caller *account.Caller, refs []markdown.TeamRef) ([]ID, error) {
	args := []any{r.OwnerID, account.IDOf(caller), maxMentioned}
	for _, ref := range refs {
		if ref.Org == account.Fold(r.Owner.Login) {
			args = append(args, ref.Slug)
		}
	}
	if len(args) == 3 || caller == nil || r.Owner.Kind != account.Organization {
		return nil, nil
	}
	_, may, err := account.OrgFor(tx, caller, r.Owner.Login)
	if err != nil || !may.Member {
		return nil, err
	}
	return db.QueryIDs[ID](tx, `SELECT t.id FROM teams t WHERE t.org_id = $1 AND `+Seen("t", may.Owner,
		"$2")+`
		AND t.slug IN `+db.ValuesFrom(4, 1, len(args)-3)+` ORDER BY t.id LIMIT $3`, args...)
}

// Reviewers finds the teams that can be asked for a review in a repository, by their slugs: closed ones of
// its organization with a role on it. Only members of the organization may name them. Error: 404 if one is missing.
func Reviewers(tx *db.Tx, a *repo.Access, slugs []string) ([]*Team, error) {
	if len(slugs) == 0 {
		return nil, nil
	}
	if !a.Insider() {
		return nil, errs.Absent()
	}
	var list []*Team
	for _, slug := range slugs { // at most as many as reviewers
		t, err := byRef(tx, Ref{Org: a.Owner.Login, Slug: slug})
		if err != nil {
			return nil, err
		}
		role, err := roleOn(tx, t.ID, a.ID)
		if err != nil {
			return nil, err
		}
		if t.Secret || role == account.None {
			return nil, errs.Absent()
		}
		list = append(list, t)
	}
	return list, nil
}

// Pushing calls each for the teams of the repositories' owners, by folded slugs, that are not secret and may push to
// the repositories, also through teams above. name is the folded ORG/SLUG.
func Pushing(tx *db.Tx, in []repo.ID, slugs []string, each func(of repo.ID, id ID, name string)) error {
	return db.InParts(slugs, func(part []string) error {
		args := append(db.Args(in, int64(account.Push), maxDepth), db.Args(part)...)
		return db.QueryEach(tx, func(row db.Scanner) error {
			var of repo.ID
			var id ID
			var org, slug string
			err := row.Scan(&of, &id, &org, &slug)
			each(of, id, org+"/"+slug)
			return err
		}, `WITH RECURSIVE up (repo_id, id, above, depth) AS (
				SELECT r.id, t.id, t.id, 0 FROM repos r JOIN teams t ON t.org_id = r.owner_id
					WHERE t.secret = FALSE AND r.id IN `+db.ValuesFrom(3, 1, len(in))+`
					AND t.slug IN `+db.ValuesFrom(3+len(in), 1, len(part))+`
				UNION ALL SELECT up.repo_id, up.id, t.parent_id, up.depth + 1 FROM up JOIN teams t ON t.id = up.above
					WHERE t.parent_id IS NOT NULL AND up.depth < $2)
			SELECT DISTINCT up.repo_id, up.id, o.login_folded, t.slug
			FROM up JOIN team_repos tr ON tr.repo_id = up.repo_id AND tr.team_id = up.above AND tr.role >= $1
			JOIN teams t ON t.id = up.id JOIN accounts o ON o.id = t.org_id`, args...)
	})
}

// Among calls each for those of the accounts that are in the teams or in teams below, but for suspended ones.
func Among(tx *db.Tx, teams []ID, accounts []account.ID, each func(id ID, who account.ID)) error {
	return db.InParts(accounts, func(who []account.ID) error {
		return db.InParts(teams, func(part []ID) error {
			return db.QueryEach(tx, func(row db.Scanner) error {
				var id ID
				var who account.ID
				err := row.Scan(&id, &who)
				each(id, who)
				return err
			}, `SELECT m.team_id, m.user_id FROM team_members m JOIN accounts a ON a.id = m.user_id
				WHERE a.suspended_at IS NULL AND m.team_id IN `+db.Values(1, len(part))+`
				AND m.user_id IN `+db.ValuesFrom(1+len(part), 1, len(who)), append(db.Args(part), db.Args(who)...)...)
		})
	})
}
