package rule

import (
	"encoding/json"
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

const columns = `s.id, COALESCE(s.repo_id, 0), COALESCE(s.org_id, 0), s.protection, s.name, s.target, s.enforcement,
	s.body, s.version, COALESCE(s.creator_id, 0), s.created_at, s.updated_at`

// scan reads columns, and then more columns of the query. Error: 404.
func scan(row db.Scanner, more ...any) (*Ruleset, error) {
	var r Ruleset
	var body string
	err := row.Scan(append([]any{&r.ID, &r.RepoID, &r.OrgID, &r.Protection, &r.Name, &r.Target, &r.Enforcement,
		&body, &r.Version, &r.CreatorID, &r.CreatedAt, &r.UpdatedAt}, more...)...)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	if err == nil {
		err = json.Unmarshal([]byte(body), &r.Body)
	}
	return &r, err
}

// readRulebook reads the rulesets of a repository and of the organization that owns it.
func readRulebook(tx *db.Tx, repoID repo.ID) (*rulebook, error) {
	books, err := readRulebooks(tx, []repo.ID{repoID})
	if err != nil {
		return nil, err
	}
	if book := books[repoID]; book != nil {
		return book, nil
	}
	return newRulebook(place{}, nil), nil
}

// readRulebooks reads the rulesets of repositories. Repositories without any are missing.
func readRulebooks(tx *db.Tx, ids []repo.ID) (map[repo.ID]*rulebook, error) {
	sets, places, err := readRulesets(tx, ids)
	books := map[repo.ID]*rulebook{}
	for id, list := range sets {
		books[id] = newRulebook(places[id], list)
	}
	return books, err
}

// readRulesets reads what readRulebooks makes of, with the disabled ones, the oldest first.
func readRulesets(tx *db.Tx, ids []repo.ID) (map[repo.ID][]*Ruleset, map[repo.ID]place, error) {
	sets, places := map[repo.ID][]*Ruleset{}, map[repo.ID]place{}
	return sets, places, db.QueryEach(tx, func(row db.Scanner) error {
		var id repo.ID
		var at place
		var merging repo.Merging
		r, err := scan(row, &id, &at.name, &at.defaultBranch, &at.owner, &merging, &at.defaultTip)
		at.noSquash = merging.Has(repo.NoSquashes)
		if err == nil {
			sets[id], places[id] = append(sets[id], r), at
		}
		return err
	}, `SELECT `+columns+`, r.id, r.name, r.default_branch, r.owner_id, r.merging, COALESCE(b.sha, '')
		FROM repos r LEFT JOIN refs b ON b.repo_id = r.id AND b.name = 'refs/heads/' || r.default_branch
		JOIN rulesets s ON s.repo_id = r.id OR s.org_id = r.owner_id
		WHERE r.id IN `+db.Values(1, len(ids))+` ORDER BY s.id`, db.Args(ids)...)
}

// owner is a repository or an organization that has rulesets.
type owner struct {
	repo repo.ID
	org  account.ID
}

// where returns the condition that a ruleset s belongs to the owner $1.
func (o owner) where() (condition string, id any) {
	if o.org != 0 {
		return `s.org_id = $1`, o.org
	}
	return `s.repo_id = $1`, o.repo
}

// byID reads a ruleset of an owner. Error: 404.
func byID(tx *db.Tx, o owner, id int64, protection bool) (*Ruleset, error) {
	where, of := o.where()
	return scan(tx.QueryRow(`SELECT `+columns+` FROM rulesets s WHERE `+where+
		` AND s.id = $2 AND s.protection = $3`, of, id, protection))
}

// list reads the rulesets of an owner, the oldest first.
func list(tx *db.Tx, o owner) ([]*Ruleset, error) {
	where, of := o.where()
	return db.QueryList(tx, func(row db.Scanner) (*Ruleset, error) { return scan(row) },
		`SELECT `+columns+` FROM rulesets s WHERE `+where+` ORDER BY s.id`, of)
}

// ofOrgs reads the rulesets of organizations, the oldest first.
func ofOrgs(tx *db.Tx, orgs []account.ID) ([]*Ruleset, error) {
	return db.QueryList(tx, func(row db.Scanner) (*Ruleset, error) { return scan(row) },
		`SELECT `+columns+` FROM rulesets s WHERE s.protection = FALSE AND s.org_id IN `+db.Values(1, len(orgs))+
			` ORDER BY s.id`, db.Args(orgs)...)
}

// protectionNamed reads the protection of a pattern. Error: 404.
func protectionNamed(tx *db.Tx, repoID repo.ID, pattern string) (*Ruleset, error) {
	return scan(tx.QueryRow(`SELECT `+columns+` FROM rulesets s
		WHERE s.repo_id = $1 AND s.protection = TRUE AND s.name = $2`, repoID, pattern))
}

// insert adds a ruleset. Error: db.ErrUnique for a name that is in use.
func insert(tx *db.Tx, r *Ruleset) error {
	body, err := json.Marshal(r.Body)
	if err != nil {
		return err
	}
	r.Version, r.CreatedAt, r.UpdatedAt = 1, tx.Now, tx.Now
	err = tx.QueryRow(`INSERT INTO rulesets (repo_id, org_id, protection, name, target, enforcement, body, version,
			created_at, updated_at, creator_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8, $9) RETURNING id`, orNull(int64(r.RepoID)),
		orNull(int64(r.OrgID)), r.Protection, r.Name, int64(r.Target), int64(r.Enforcement), string(body),
		tx.Now, orNull(int64(r.CreatorID))).Scan(&r.ID)
	if err != nil {
		return err
	}
	return setRuled(tx, owner{r.RepoID, r.OrgID})
}

// update stores a changed ruleset.
func update(tx *db.Tx, r *Ruleset) error {
	body, err := json.Marshal(r.Body)
	if err != nil {
		return err
	}
	r.Version, r.UpdatedAt = r.Version+1, tx.Now
	_, err = tx.Exec(`UPDATE rulesets SET name = $2, target = $3, enforcement = $4, body = $5, version = $6,
		updated_at = $7 WHERE id = $1`, r.ID, r.Name, int64(r.Target), int64(r.Enforcement), string(body),
		r.Version, tx.Now)
	if err != nil {
		return err
	}
	return setRuled(tx, owner{r.RepoID, r.OrgID})
}

func remove(tx *db.Tx, r *Ruleset) error {
	if _, err := tx.Exec(`DELETE FROM rulesets WHERE id = $1`, r.ID); err != nil {
		return err
	}
	return setRuled(tx, owner{r.RepoID, r.OrgID})
}

// setRuled stores whether an owner has rulesets. Answers about branches depend on the refs' generation, so it is
// incremented.
func setRuled(tx *db.Tx, o owner) error {
	if o.org != 0 {
		_, err := tx.Exec(`UPDATE accounts SET ruled = EXISTS (SELECT 1 FROM rulesets s WHERE s.org_id = $1)
			WHERE id = $1`, o.org)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE repos SET refs_generation = refs_generation + 1 WHERE owner_id = $1`, o.org)
		return err
	}
	_, err := tx.Exec(`UPDATE repos SET refs_generation = refs_generation + 1,
		ruled = EXISTS (SELECT 1 FROM rulesets s WHERE s.repo_id = $1) WHERE id = $1`, o.repo)
	return err
}

func orNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// FollowRename gives the protection of a branch, if it has one of its own, the branch's new name. A protection that
// the new name had before stays. Error: 403 if there is one and the caller does not administer the repository, since
// the old name would be free without it.
func FollowRename(tx *db.Tx, id repo.ID, n *repo.BranchRename) error {
	_, err := protectionNamed(tx, id, n.From)
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	if err == nil && !n.Admin {
		err = errs.New(errs.Forbidden, "Must have admin rights to rename a protected branch.")
	}
	if err != nil {
		return err
	}
	return tx.Run(`UPDATE rulesets SET name = $3, version = version + 1, updated_at = $4
		WHERE repo_id = $1 AND protection AND name = $2 AND NOT EXISTS (SELECT 1 FROM rulesets o
			WHERE o.repo_id = $1 AND o.protection AND o.name = $3)`, id, n.From, n.To, tx.Now)
}
