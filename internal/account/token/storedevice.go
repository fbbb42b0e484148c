package token

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// afterExpiry is how long, in microseconds, a request stays after its codes have expired, so that the program
// receives that error.
const afterExpiry = db.Time(60 * 60 * 1e6)

// waitingDevices counts the requests whose codes have not expired: all, and those from one network. It
// deletes those that expired long ago. deviceLock must be held.
func waitingDevices(tx *db.Tx, network string) (all, here int64, err error) {
	if _, err := tx.Exec(`DELETE FROM device_requests WHERE expires_at < $1`,
		tx.Now-afterExpiry); err != nil {
		return 0, 0, err
	}
	if err := tx.QueryRow(`SELECT COUNT(*) FROM device_requests WHERE expires_at > $1`,
		tx.Now).Scan(&all); err != nil {
		return 0, 0, err
	}
	err = tx.QueryRow(`SELECT COUNT(*) FROM device_requests WHERE network = $1 AND expires_at > $2`,
		network, tx.Now).Scan(&here)
	return all, here, err
}

// makeRoomForDevice removes the oldest request that nobody decided of the network with most, for one of a
// network with fewer. deviceLock is held. Error: 503 if none has more than here.
func makeRoomForDevice(tx *db.Tx, here int64) error {
	var oldest, most int64
	err := tx.QueryRow(`SELECT MIN(id), COUNT(*) FROM device_requests WHERE account_id IS NULL AND expires_at > $1
		GROUP BY network ORDER BY 2 DESC, 1 LIMIT 1`, tx.Now).Scan(&oldest, &most)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return err
	}
	if most <= here {
		return errs.New(errs.Unavailable, "Too many codes wait to be confirmed.")
	}
	return tx.Run(`DELETE FROM device_requests WHERE id = $1`, oldest)
}

func insertDevice(tx *db.Tx, ask DeviceAsk, codes *DeviceCodes) error {
	device := Digest(codes.Device)
	user, _ := userCodeDigest(codes.User)
	_, err := tx.Exec(`INSERT INTO device_requests (device, user_code, client, scopes, network, pause,
		created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7,
		$8)`, device[:], user[:], ask.Client, ask.Scopes.String(), ask.Network,
		codes.Pause, tx.Now, tx.Now+db.Time(codes.Expires.Microseconds()))
	return err
}

// waitingDevice is a request as the program that made it finds it.
type waitingDevice struct {
	client  string
	scopes  scope.Set
	seen    scope.Permissions // of a GitHub App: what the account saw when it decided
	pause   int64
	asked   db.Time
	account account.ID // the deciding account; 0: undecided
	allowed bool
	expires db.Time
}

// deviceByDigest finds a request by the program's code. Error: errs.Absent.
func deviceByDigest(tx *db.Tx, d digest) (*waitingDevice, error) {
	var w waitingDevice
	var scopes, seen string
	var by *account.ID
	err := tx.QueryRow(`SELECT client, scopes, permissions, pause, asked_at, account_id, allowed, expires_at
		FROM device_requests WHERE device = $1`, d[:]).
		Scan(&w.client, &scopes, &seen, &w.pause, &w.asked, &by, &w.allowed, &w.expires)
	if err != nil {
		return nil, account.OrAbsent(err)
	}
	if by != nil {
		w.account = *by
	}
	w.seen = scope.ParsePermissions(seen)
	w.scopes, err = scope.Parse(scopes)
	return &w, err
}

// deviceByUserCode reads an undecided request by the user's code. Error: errs.Absent.
func deviceByUserCode(tx *db.Tx, d digest) (*DeviceRequest, error) {
	var r DeviceRequest
	var client, scopes string
	err := tx.QueryRow(`SELECT id, client, scopes, network, created_at, expires_at FROM device_requests
		WHERE user_code = $1 AND account_id IS NULL AND expires_at > $2`, d[:], tx.Now).
		Scan(&r.ID, &client, &scopes, &r.Network, &r.CreatedAt, &r.ExpiresAt)
	if err != nil {
		return nil, account.OrAbsent(err)
	}
	name, app, err := deviceClient(tx, client)
	if err == nil && mayAskDevice(app) != nil { // its owner switched the flow off since
		err = errs.Absent()
	}
	if err != nil { // it may be gone
		return nil, err
	}
	if r.Client = name; app != nil {
		r.GitHubApp, r.Permissions, r.Owner = app.GitHubApp != 0, app.Permissions, app.Owner
	}
	r.Scopes, err = scope.Parse(scopes)
	return &r, err
}

func setDevicePause(tx *db.Tx, d digest, pause int64, now db.Time) error {
	_, err := tx.Exec(`UPDATE device_requests SET pause = $2, asked_at = $3 WHERE device = $1`,
		d[:], pause, now)
	return err
}

// setDevice stores the decision on a request, and the permissions that the page showed. Error: errs.Absent if it was
// decided before.
func setDevice(tx *db.Tx, r *DeviceRequest, by account.ID, allowed bool) error {
	return account.OrAbsent(tx.QueryRow(`UPDATE device_requests SET account_id = $2, allowed = $3, permissions = $4
		WHERE id = $1 AND account_id IS NULL RETURNING id`, r.ID, by, allowed, r.Permissions.String()).Scan(&r.ID))
}

// dropAllowed removes a request that an account allowed, and reports whether it existed.
func dropAllowed(tx *db.Tx, d digest, by account.ID) (there bool, err error) {
	n, err := tx.Exec(`DELETE FROM device_requests
		WHERE device = $1 AND account_id = $2 AND allowed = TRUE AND expires_at > $3`, d[:], by, tx.Now)
	if err != nil {
		return false, err
	}
	return n > 0, nil
}

// missesOf counts the wrong codes that an account entered recently.
func missesOf(tx *db.Tx, by account.ID) (misses int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MAX(misses), 0) FROM device_misses WHERE account_id = $1 AND since > $2`,
		by, tx.Now-db.Time(missesFor.Microseconds())).Scan(&misses)
	return misses, err
}

// noteMiss counts a wrong code.
func noteMiss(tx *db.Tx, by account.ID) error {
	_, err := tx.Exec(`INSERT INTO device_misses (account_id, misses, since) VALUES ($1, 1, $2)
		ON CONFLICT (account_id) DO UPDATE SET
			misses = CASE WHEN device_misses.since > $3 THEN device_misses.misses + 1 ELSE 1 END,
			since = CASE WHEN device_misses.since > $3 THEN device_misses.since ELSE excluded.since END`,
		by, tx.Now, tx.Now-db.Time(missesFor.Microseconds()))
	return err
}
