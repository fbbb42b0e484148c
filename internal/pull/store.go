package pull

import (
	"errors"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// columns are the columns of from that scan reads.
const columns = `p.issue_id, p.repo_id, p.number,
	(SELECT i.author_id FROM issues i WHERE i.id = p.issue_id), p.open, p.base_ref, p.base_sha,
	COALESCE(p.head_repo_id, 0), p.head_owner_id,
	p.head_ref, p.head_sha, p.modifiable, COALESCE(p.merged_by, 0), COALESCE(p.merge_sha, ''), COALESCE(p.tested_base, ''),
	COALESCE(p.tested_head, ''), COALESCE(p.test_sha, ''), p.additions, p.deletions, p.changed_files, p.commits,
	p.wanted, p.tries, p.review_comments, COALESCE(b.sha, '')`

const from = ` FROM pulls p LEFT JOIN refs b ON b.repo_id = p.repo_id AND b.name = 'refs/heads/' || p.base_ref `

// scan reads columns, and then more columns of the query. Error: 404 if the row does not exist.
func scan(row db.Scanner, more ...any) (*Pull, error) {
	var p Pull
	err := row.Scan(append([]any{
		&p.IssueID, &p.RepoID, &p.Number, &p.AuthorID, &p.Open, &p.BaseRef, &p.BaseSHA,
		&p.HeadRepoID, &p.HeadOwnerID,
		&p.HeadRef, &p.HeadSHA, &p.Modifiable, &p.MergedBy, &p.MergeSHA, &p.TestedBase,
		&p.TestedHead, &p.TestSHA, &p.Additions, &p.Deletions, &p.Files, &p.Commits,
		&p.Wanted, &p.Tries, &p.ReviewComments, &p.BaseTip}, more...)...)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	return &p, err
}

// query reads pull requests. rest follows from.
func query(tx *db.Tx, rest string, args ...any) ([]*Pull, error) {
	return db.QueryList(tx, func(row db.Scanner) (*Pull, error) { return scan(row) },
		`SELECT `+columns+from+rest, args...)
}

func byNumber(tx *db.Tx, repoID repo.ID, number int64) (*Pull, error) {
	return scan(tx.QueryRow(`SELECT `+columns+from+`WHERE p.repo_id = $1 AND p.number = $2`, repoID, number))
}

func byID(tx *db.Tx, issueID issue.ID) (*Pull, error) {
	return scan(tx.QueryRow(`SELECT `+columns+from+`WHERE p.issue_id = $1`, issueID))
}

// BaseOf returns the base branch of a pull request. Error: 404.
func BaseOf(tx *db.Tx, issueID issue.ID) (string, error) {
	p, err := byID(tx, issueID)
	if err != nil {
		return "", err
	}
	return p.BaseRef, nil
}

// ByIDs reads pull requests by the ids of their issues in one query.
func ByIDs(tx *db.Tx, ids []issue.ID) (map[issue.ID]*Pull, error) {
	return db.QueryByID(ids, func(p *Pull) issue.ID { return p.IssueID }, func() ([]*Pull, error) {
		return query(tx, `WHERE p.issue_id IN `+db.Values(1, len(ids)), db.Args(ids)...)
	})
}

// MergedAs returns those of the commits that merged a pull request of a repository.
func MergedAs(tx *db.Tx, repoID repo.ID, tips []git.SHA) (map[git.SHA]bool, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	return db.QueryMap[git.SHA, bool](tx, `SELECT p.merge_sha, TRUE FROM pulls p WHERE p.repo_id = $1 AND p.merge_sha IN `+
		db.ValuesFrom(2, 1, len(tips)), db.Args(tips, repoID)...)
}

// openByHead reads the open pull requests whose head is one of the branches.
func openByHead(tx *db.Tx, repoID repo.ID, branches []string) ([]*Pull, error) {
	return openBy(tx, headIn, repoID, branches)
}

// openByBase reads the open pull requests whose base is one of the branches.
func openByBase(tx *db.Tx, repoID repo.ID, branches []string) ([]*Pull, error) {
	return openBy(tx, baseIn, repoID, branches)
}

// openOf reports whether a branch is the head or base of an open pull request.
func openOf(tx *db.Tx, repoID repo.ID, branch string) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM pulls p WHERE p.head_repo_id = $1 AND p.head_ref = $2
		AND p.open)
		OR EXISTS (SELECT 1 FROM pulls p WHERE p.repo_id = $1 AND p.base_ref = $2
		AND p.open)`, repoID, branch).Scan(&is)
	return is, err
}

// openModifiable reads the open pull requests from a repository to others that allow maintainers to push to
// the head.
func openModifiable(tx *db.Tx, headRepoID repo.ID) ([]*Pull, error) {
	return query(tx, `WHERE p.head_repo_id = $1 AND p.open AND p.modifiable AND p.repo_id <> $1 ORDER BY p.issue_id`, headRepoID)
}

// Conditions of openBy: $1 is the repository.
const (
	headIn = `p.head_repo_id = $1 AND p.head_ref IN `
	baseIn = `p.repo_id = $1 AND p.base_ref IN `
)

func openBy(tx *db.Tx, where string, repoID repo.ID, branches []string) (list []*Pull, err error) {
	if err = sendOpenBy(tx, &list, where, repoID, branches); err == nil {
		err = tx.Flush()
	}
	return list, err
}

// sendOpenBy is openBy, as [db.Tx.SendEach] reads.
func sendOpenBy(tx *db.Tx, to *[]*Pull, where string, repoID repo.ID, branches []string) error {
	return db.InParts(branches, func(part []string) error {
		return tx.SendEach(func(row db.Scanner) error {
			p, err := scan(row)
			*to = append(*to, p)
			return err
		}, `SELECT `+columns+from+`WHERE `+where+db.ValuesFrom(2, 1, len(part))+` AND p.open ORDER BY p.issue_id`,
			db.Args(part, repoID)...)
	})
}

// openPair returns the number of the open pull request between two branches, or 0.
func openPair(tx *db.Tx, p *Pull) (number int64, err error) {
	err = tx.QueryRow(`SELECT number FROM pulls WHERE repo_id = $1 AND base_ref = $2 AND head_repo_id = $3
		AND head_ref = $4
		AND open AND issue_id <> $5`, p.RepoID, p.BaseRef, p.HeadRepoID, p.HeadRef, p.IssueID).Scan(&number)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return number, err
}

func insertPull(tx *db.Tx, p *Pull) error {
	err := tx.Run(`INSERT INTO pulls (issue_id, repo_id, number, open, base_ref, base_sha, head_repo_id,
		head_owner_id, head_ref, head_sha, modifiable, tested_base, tested_head, test_sha, additions,
		deletions, changed_files, commits, wanted)
		VALUES ($1, $2, $3, TRUE, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		p.IssueID, p.RepoID, p.Number, p.BaseRef, p.BaseSHA, p.HeadRepoID, p.HeadOwnerID,
		p.HeadRef, p.HeadSHA,
		p.Modifiable,
		db.OrNull(p.TestedBase), db.OrNull(p.TestedHead), db.OrNull(p.TestSHA),
		p.Additions, p.Deletions, p.Files, p.Commits, p.Wanted)
	return err
}

// setHead stores a new head with the account that pushed it, and schedules a test merge.
func setHead(tx *db.Tx, p *Pull, sha git.SHA, by account.ID) error {
	err := tx.Run(`UPDATE pulls SET head_sha = $2, base_sha = CASE WHEN $3 = '' THEN base_sha ELSE $3 END,
		pushed_by = $4, wanted = TRUE, due_at = 0, tries = 0 WHERE issue_id = $1`, p.IssueID, string(sha),
		string(p.BaseTip), by)
	return err
}

// setBase stores another base with its tip and schedules a test merge: the last one counted the commits
// that the former base lacked.
func setBase(tx *db.Tx, issueID issue.ID, branch string, tip git.SHA) error {
	err := tx.Run(`UPDATE pulls SET base_ref = $2, base_sha = $3, tested_base = NULL, wanted = TRUE,
		due_at = 0, tries = 0
		WHERE issue_id = $1`, issueID, branch, string(tip))
	return err
}

// renameBaseRef stores a new name of the base, whose commits stay.
func renameBaseRef(tx *db.Tx, issueID issue.ID, name string) error {
	return tx.Run(`UPDATE pulls SET base_ref = $2 WHERE issue_id = $1`, issueID, name)
}

// renameHeadRef stores a new name of the head, whose commits stay.
func renameHeadRef(tx *db.Tx, issueID issue.ID, name string) error {
	return tx.Run(`UPDATE pulls SET head_ref = $2 WHERE issue_id = $1`, issueID, name)
}

func setModifiable(tx *db.Tx, issueID issue.ID, to bool) error {
	err := tx.Run(`UPDATE pulls SET modifiable = $2 WHERE issue_id = $1`, issueID, to)
	return err
}

func setOpen(tx *db.Tx, issueID issue.ID, open bool) error {
	err := tx.Run(`UPDATE pulls SET open = $2, wanted = CASE WHEN $2 THEN TRUE ELSE FALSE END, due_at = 0,
		tries = 0
		WHERE issue_id = $1`, issueID, open)
	return err
}

func setMerged(tx *db.Tx, issueID issue.ID, by account.ID, sha git.SHA) error {
	err := tx.Run(`UPDATE pulls SET merged_by = $2, merge_sha = $3 WHERE issue_id = $1`,
		issueID, by, string(sha))
	return err
}

// want schedules a test merge unless one is scheduled.
func want(tx *db.Tx, issueID issue.ID) error {
	err := tx.Run(`UPDATE pulls SET wanted = TRUE, due_at = 0, tries = 0 WHERE issue_id = $1 AND open
		AND NOT wanted`, issueID)
	return err
}

// branchID returns the id of a branch in the index, or 0 if no pull request ever had it.
func branchID(tx *db.Tx, repoID repo.ID, ownerID account.ID, name string) (id int64, err error) {
	err = tx.QueryRow(`SELECT id FROM pull_branches WHERE repo_id = $1 AND owner_id = $2 AND name = $3`,
		repoID, ownerID, name).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return id, err
}

// branchesNamed returns the ids of the base branches, or of the head branches of any owner, with a name in
// each repository that has some. The owner 0 means a base branch.
func branchesNamed(tx *db.Tx, repos []*repo.Access, name string, base bool) (map[repo.ID][]int64, error) {
	found := map[repo.ID][]int64{}
	if name == "" || len(repos) == 0 {
		return found, nil
	}
	is := `<>`
	if base {
		is = `=`
	}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var in repo.ID
		var id int64
		err := row.Scan(&in, &id)
		found[in] = append(found[in], id)
		return err
	}, `SELECT repo_id, id FROM pull_branches WHERE name = $1 AND owner_id `+is+` $2 AND repo_id IN `+
		db.ValuesFrom(3, 1, len(repos)), db.Args(repo.IDsOf(repos), name, account.ID(0))...)
	return found, err
}

// branchProperty is branchID for a new pull request: it adds a branch that is not in the index.
func branchProperty(tx *db.Tx, repoID repo.ID, ownerID account.ID, name string) (posting.Property, error) {
	var id int64
	err := tx.QueryRow(`INSERT INTO pull_branches (repo_id, owner_id, name) VALUES ($1, $2, $3)
		ON CONFLICT (repo_id, owner_id, name) DO UPDATE SET name = excluded.name
		RETURNING id`, repoID, ownerID, name).Scan(&id)
	return posting.Property{Kind: posting.ByBranch, Value: id}, err
}

// jobs are the scheduled test merges: rows with wanted set.
var jobs = db.Jobs{Table: "pulls", Key: "issue_id"}

// Lease takes a scheduled test merge that is due, or returns nil.
func Lease(tx *db.Tx, length time.Duration) (*Pull, *db.Lease, error) {
	l, err := jobs.Take(tx, length, 1, `wanted`)
	if err != nil || l == nil {
		return nil, nil, err
	}
	p, err := byID(tx, issue.ID(l.IDs[0]))
	return p, l, err
}

// storeTrial stores the result of a test merge unless the head or base has changed.
func storeTrial(tx *db.Tx, p *Pull, t *trial) (stored bool, err error) {
	n, err := tx.Exec(`UPDATE pulls SET tested_base = $2, tested_head = $3, test_sha = $4, additions = $5,
		deletions = $6, changed_files = $7, commits = $8, wanted = FALSE, due_at = 0, tries = 0
		WHERE issue_id = $1 AND head_sha = $3 AND base_ref = $9 AND base_sha = $10`,
		t.issueID, string(t.base), string(t.head), db.OrNull(t.commit), t.additions, t.deletions,
		t.files, t.commits,
		p.BaseRef, string(p.BaseSHA))
	return n == 1, err
}

// giveUp cancels a leased test merge until it is requested again. Error: db.ErrLeaseLost.
func giveUp(tx *db.Tx, l *db.Lease) error {
	if err := jobs.PutOff(tx, l, 0); err != nil {
		return err
	}
	err := tx.Run(`UPDATE pulls SET wanted = FALSE WHERE issue_id = $1`, l.IDs[0])
	return err
}

// Backlog returns the backlog of test merges.
func (s *Service) Backlog(tx *db.Tx) (db.Backlog, error) { return jobs.Backlog(tx, `wanted`) }

// headBranches returns the ids of branches of repositories in lists of pull requests by heads, as far as there are
// pull requests from them.
func headBranches(tx *db.Tx, list []repo.Of[string]) (map[repo.Of[string]]int64, error) {
	repos, names := repo.In(list), map[string]bool{}
	args := []any{}
	for id := range repos {
		args = append(args, id)
	}
	for _, of := range list {
		if !names[of.Key] {
			names[of.Key] = true
			args = append(args, of.Key)
		}
	}
	found := map[repo.Of[string]]int64{}
	if len(list) == 0 {
		return found, nil
	}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var in repo.ID
		var owner account.ID
		var name string
		var id int64
		err := row.Scan(&in, &owner, &name, &id)
		if a := repos[in]; a != nil && a.OwnerID == owner {
			found[repo.Of[string]{In: a, Key: name}] = id
		}
		return err
	}, `SELECT repo_id, owner_id, name, id FROM pull_branches WHERE repo_id IN `+db.Values(1, len(repos))+
		` AND name IN `+db.ValuesFrom(len(repos)+1, 1, len(names)), args...)
	return found, err
}
