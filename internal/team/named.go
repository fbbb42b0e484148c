package team

import (
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
