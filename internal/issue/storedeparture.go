package issue

import (
	"errors"
	"fmt"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// extraProperties returns the properties of an issue that do not follow from its row.
func extraProperties(tx *db.Tx, id ID) (list []posting.Property, err error) {
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var kind, value int64
		if err := row.Scan(&kind, &value); err != nil {
			return err
		}
		list = append(list, posting.Kind(kind).Of(value))
		return nil
	}, `SELECT kind, value FROM postings WHERE issue_id = $1 AND kind IN ($2, $3, $4)`,
		id, int64(posting.ByMention), int64(posting.ByTeam), int64(posting.BySubscriber))
	return list, err
}

// sameMilestone returns the milestone of a repository with the title of the milestone id, or 0.
func sameMilestone(tx *db.Tx, repoID repo.ID, id int64) (same int64, err error) {
	err = tx.QueryRow(`SELECT n.id FROM milestones m JOIN milestones n ON n.title = m.title
		WHERE m.id = $1 AND n.repo_id = $2`, id, repoID).Scan(&same)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return same, err
}

// move moves everything that belongs to the issue to its new row. Commits are not moved, so events lose
// their commits.
func (d *Departure) move() error {
	for _, s := range [...]string{
		`UPDATE issue_comments SET issue_id = $1, repo_id = $2 WHERE issue_id = $3`,
		`UPDATE reactions SET repo_id = $2 WHERE subject_kind = 2 AND subject_id IN (
			SELECT id FROM issue_comments WHERE issue_id = $1 OR issue_id = $3)`,
		`UPDATE reactions SET repo_id = $2, subject_id = $1 WHERE subject_kind = 1 AND subject_id = $3`,
		`UPDATE issue_events SET issue_id = $1, repo_id = $2, commit_sha = NULL WHERE issue_id = $3`,
		`UPDATE text_edits SET issue_id = $1, repo_id = $2 WHERE issue_id = $3`,
		`INSERT INTO mannequin_repos (account_id, repo_id) SELECT m.account_id, CAST($2 AS BIGINT) FROM mannequin_repos m
			WHERE m.repo_id = (SELECT repo_id FROM issues WHERE id = $3) AND EXISTS (
				SELECT 1 FROM issues x WHERE x.id = $1 AND x.author_id = m.account_id
				UNION ALL SELECT 1 FROM issue_comments c WHERE c.issue_id = $1 AND c.author_id = m.account_id)
			ON CONFLICT DO NOTHING`,
	} {
		if err := d.Tx.Run(s, d.New.ID, d.To.ID, d.Issue.ID); err != nil {
			return err
		}
	}
	for _, s := range [...]string{
		`UPDATE issue_events SET source_id = $1 WHERE source_id = $2`,
		`UPDATE issue_subscriptions SET issue_id = $1 WHERE issue_id = $2`,
		`UPDATE departed_issues SET moved_to = $1 WHERE moved_to = $2`,
		`UPDATE linked_branches SET issue_id = $1 WHERE issue_id = $2`,
	} {
		if err := d.Tx.Run(s, d.New.ID, d.Issue.ID); err != nil {
			return err
		}
	}
	if err := countComments(d.Tx, d.New, 1); err != nil {
		return err
	}
	return InsertEvents(d.Tx, []Event{{RepoID: d.To.ID, IssueID: d.New.ID, ActorID: d.Actor,
		Kind: EventTransferred}})
}

// countComments adds the issue's comments to the repository's count, or subtracts them if by is -1.
func countComments(tx *db.Tx, i *Issue, by int64) error {
	return posting.Count(tx, i.RepoID, []posting.Property{posting.OfComments.Of(0)}, 0, by*i.Comments)
}

// loseIssue deletes an issue's row with everything that belongs to it, and updates the counters.
func loseIssue(tx *db.Tx, i *Issue) error {
	if err := tx.Run(recount(`SELECT repo_id, kind, value, state, -1 FROM postings WHERE issue_id = $1`),
		i.ID); err != nil {
		return err
	}
	if err := countComments(tx, i, -1); err != nil {
		return err
	}
	if i.State == Open {
		if err := addOpenIssues(tx, i.RepoID, -1); err != nil {
			return err
		}
	}
	for _, s := range [...]string{
		`DELETE FROM reactions WHERE subject_kind = 2 AND subject_id IN (SELECT id FROM issue_comments WHERE issue_id = $1)`,
		`DELETE FROM reactions WHERE subject_kind = 1 AND subject_id = $1`,
		`DELETE FROM issue_events WHERE source_id = $1`,
		`UPDATE departed_issues SET moved_to = NULL WHERE moved_to = $1`,
		`DELETE FROM issues WHERE id = $1`,
	} {
		if err := tx.Run(s, i.ID); err != nil {
			return err
		}
	}
	return nil
}

// insertDeparture records the new id of a transferred issue, or 0 for a deleted one.
func insertDeparture(tx *db.Tx, i *Issue, to ID) error {
	return tx.Run(`INSERT INTO departed_issues (repo_id, number, moved_to) VALUES ($1, $2, $3)`,
		i.RepoID, i.Number, db.OrNull(int64(to)))
}

// missingError returns the error for a missing issue: 410 for a deleted one, a [repo.MovedError] for one
// transferred to a repository that is visible to the caller, else 404.
func missingError(tx *db.Tx, a *repo.Access, number int64) error {
	var to repo.ID
	var now int64
	err := tx.QueryRow(fmt.Sprintf(`SELECT COALESCE(i.repo_id, 0), CASE WHEN d.moved_to IS NULL THEN 0
			WHEN (SELECT count(*)%s AND r.has_issues) > 0 THEN i.number ELSE -1 END
		FROM departed_issues d LEFT JOIN issues i ON i.id = d.moved_to WHERE d.repo_id = $2
		AND d.number = $3`,
		repo.FromVisible("i.repo_id", a.Caller)), account.IDOf(a.Caller), a.ID, number).Scan(&to, &now)
	switch {
	case errors.Is(err, db.ErrNoRows) || err == nil && now < 0:
		return errs.Absent()
	case err != nil:
		return err
	case now == 0:
		return errs.New(errs.Gone, "This issue was deleted")
	}
	found, err := repo.ByIDs(tx, a.Caller, []repo.ID{to})
	if err != nil {
		return err
	}
	if found[to] == nil {
		return errs.Absent()
	}
	return &repo.MovedError{To: found[to].Repo, Param: "number", Value: strconv.FormatInt(now, 10)}
}
