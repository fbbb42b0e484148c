package token

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// Bounds of the device flow.
const (
	deviceLife    = 15 * time.Minute // of both codes
	devicePause   = 5                // seconds between two questions of a program
	maxDevices    = 10000            // requests whose codes have not expired, of all
	maxOfNetwork  = 20               // of these, from one network
	maxMisses     = 5                // wrong codes that one person enters
	missesFor     = 15 * time.Minute // then they are forgotten
	userCodeSize  = 8
	userCodeSigns = "BCDFGHJKLMNPQRSTVWXZ" // no vowels, so no words
)

// deviceLock is held while requests are counted and one is added.
const deviceLock = "device requests"

// builtInClients are the client ids that are built into programs, which every server accepts.
var builtInClients = map[string]string{"178c6fc778ccc68e1d6a": "GitHub CLI", "b895675a4e2cf54d5c6c": "git-credential-oauth"}

// deviceClient returns the name of the program with a client id, and the OAuth App that it is; nil: its client id is
// built in. Error: errs.Absent.
func deviceClient(tx *db.Tx, id string) (name string, app *OAuthApp, err error) {
	if name = builtInClients[id]; name != "" {
		return name, nil, nil
	}
	if app, err = OAuthAppOf(tx, id); err != nil {
		return "", nil, err
	}
	return app.Name, app, nil
}

// mayAskDevice returns an *OAuthError for an App that may not use the device flow; nil is a built-in client.
func mayAskDevice(app *OAuthApp) error {
	if app != nil && !app.DeviceFlow {
		return Refuse("device_flow_disabled", "Device Flow must be explicitly enabled for this App.")
	}
	return nil
}

// DeviceAsk is a request of the device flow.
type DeviceAsk struct {
	Client  string // OAuth client id
	Scopes  scope.Set
	Network string // of the program
}

// DeviceCodes are the codes of a device flow: one for the program, and one that the user confirms.
type DeviceCodes struct {
	Device, User string
	Expires      time.Duration
	Pause        int64 // seconds between two questions
}

// DeviceRequest is a program's request, as its page shows it before it is confirmed.
type DeviceRequest struct {
	ID        int64
	Client    string // the program's name
	Owner     string // login of the App's owner; empty: its client id is built in
	GitHubApp bool   // it has permissions, and no scopes
	Scopes    scope.Set
	Network   string
	CreatedAt db.Time
	ExpiresAt db.Time

	Permissions scope.Permissions // of a GitHub App: all that it asks for now
}

// AskDevice begins a device flow (RFC 8628). Where too many requests wait, it removes the oldest request of the
// network with the most, so that nobody ends the flow for others with many requests. Errors: 404 for a client that
// is not known, an *OAuthError for one that may not use the flow, 429 where too many requests wait from that
// network, 503 where too many wait at all and no network has more.
func (s *Service) AskDevice(ctx context.Context, ask DeviceAsk) (*DeviceCodes, error) {
	codes := &DeviceCodes{Device: newDeviceCode(), User: newUserCode(), Expires: deviceLife,
		Pause: devicePause}
	err := s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		_, app, err := deviceClient(tx, ask.Client)
		if err == nil {
			err = mayAskDevice(app)
		}
		if err != nil {
			return err
		}
		if app != nil && app.GitHubApp != 0 {
			ask.Scopes = 0 // it has permissions instead
		}
		if err := tx.Lock(deviceLock); err != nil {
			return err
		}
		all, here, err := waitingDevices(tx, ask.Network)
		switch {
		case err != nil:
			return err
		case here >= maxOfNetwork:
			return errs.New(errs.TooManyRequests, "Too many codes from your network wait to be confirmed.")
		case all >= maxDevices:
			if err := makeRoomForDevice(tx, here); err != nil {
				return err
			}
		}
		return insertDevice(tx, ask, codes)
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

func newDeviceCode() string {
	var b [20]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// newUserCode returns a code as GitHub's: WDJB-MJHT.
func newUserCode() string {
	b := make([]byte, 0, userCodeSize+1)
	for len(b) < userCodeSize+1 {
		var random [1]byte
		rand.Read(random[:])
		if n := int(random[0]); n < 240 { // a multiple of the 20 letters, so that all are as likely
			b = append(b, userCodeSigns[n%len(userCodeSigns)])
		}
		if len(b) == userCodeSize/2 {
			b = append(b, '-')
		}
	}
	return string(b)
}

// userCodeDigest is the digest of a code as a person types it: in any case, with or without the hyphen.
func userCodeDigest(code string) (d digest, ok bool) {
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	if len(code) != userCodeSize || strings.Trim(code, userCodeSigns) != "" {
		return d, false
	}
	return Digest(code), true
}

func wrongDeviceCode() error {
	return Refuse("incorrect_device_code", "The device_code provided is not valid.")
}

func deviceDenied() error {
	return Refuse("access_denied", "The authorization request was denied.")
}

// TakeDevice returns the token that a user granted to a program. The code can be redeemed once. address is
// the program's, for the audit log. Errors: a *OAuthError.
func (s *Service) TakeDevice(
	ctx context.Context, client, code, address string,
) (made *Issued, err error) {
	d := Digest(code)
	var w *waitingDevice
	var holder *account.Account
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		_, app, err := deviceClient(tx, client)
		if errs.Is(err, errs.NotFound) {
			return WrongClient()
		}
		if err == nil {
			err = mayAskDevice(app)
		}
		if err != nil {
			return err
		}
		if w, err = deviceByDigest(tx, d); err == nil && w.account != 0 {
			holder, err = account.ByID(tx, w.account)
		}
		return err
	})
	now := s.now()
	switch {
	case errs.Is(err, errs.NotFound):
		return nil, wrongDeviceCode()
	case err != nil:
		return nil, err
	case w.client != client:
		return nil, wrongDeviceCode()
	case now >= w.expires:
		return nil, Refuse("expired_token", "This 'device_code' has expired.")
	case holder == nil:
		return nil, s.pauseDevice(ctx, d, w, now)
	case !w.allowed || !holder.SuspendedAt.IsZero():
		return nil, deviceDenied()
	}
	ctx = audit.With(ctx, audit.Actor{ID: int64(holder.ID), Login: holder.Login, Address: address,
		Right: audit.Self})
	return s.exchangeDevice(ctx, d, holder, w)
}

// exchangeDevice creates the token in the transaction that deletes the request, so it is created once.
func (s *Service) exchangeDevice(
	ctx context.Context, d digest, of *account.Account, w *waitingDevice,
) (made *Issued, err error) {
	err = s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		if err := account.HoldID(tx, of.ID); err != nil {
			return err
		}
		there, err := dropAllowed(tx, d, of.ID)
		if err != nil {
			return err
		}
		if !there {
			return wrongDeviceCode()
		}
		holder, err := account.ByID(tx, of.ID)
		if err != nil {
			return err
		}
		if !holder.SuspendedAt.IsZero() {
			return deviceDenied()
		}
		made, err = createDeviceToken(tx, holder, w)
		return err
	})
	return made, err
}

func createDeviceToken(tx *db.Tx, holder *account.Account, w *waitingDevice) (*Issued, error) {
	name, app, err := deviceClient(tx, w.client)
	if errs.Is(err, errs.NotFound) {
		return nil, WrongClient()
	}
	if err == nil {
		err = mayAskDevice(app) // its owner may have switched the flow off since
	}
	if err != nil {
		return nil, err
	}
	if app != nil {
		app.Permissions = app.Permissions.Within(w.seen)
		grant, err := Allow(tx, app, holder, w.scopes)
		if err != nil {
			return nil, err
		}
		return CreateOAuthToken(tx, app, holder, grant, w.scopes, true)
	}
	token := NewSecret(Prefix)
	n := NewToken{Login: holder.Login, Note: name, Scopes: w.scopes}
	id, err := insertToken(tx, holder.ID, Digest(token), hintOf(token), &n, 0)
	if err != nil {
		return nil, err
	}
	return &Issued{ID: id, Value: token, Scopes: w.scopes}, account.Record(tx, audit.TokenCreate, holder, audit.Self, n.told(id, 0))
}

// pauseDevice returns the error that a program must poll more slowly. Each early poll lengthens its interval.
func (s *Service) pauseDevice(ctx context.Context, d digest, w *waitingDevice, now db.Time) error {
	pause := w.pause
	refusal := &OAuthError{Code: "authorization_pending",
		Description: "The authorization request is still pending."}
	if now < w.asked+db.Time(time.Duration(pause)*time.Second/time.Microsecond) {
		pause += devicePause
		refusal = &OAuthError{Code: "slow_down", Pause: pause,
			Description: "Too many requests have been made in the same timeframe."}
	}
	if err := s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		return setDevicePause(tx, d, pause, now)
	}); err != nil {
		return err
	}
	return refusal
}

// FindDevice returns the request with a person's code. Errors: 403 for a caller who did not sign in with a
// password, 404 for a code that is unknown, expired or already decided, 429 after too many such codes.
func (s *Service) FindDevice(ctx context.Context, caller *account.Caller, code string) (*DeviceRequest, error) {
	return s.withDevice(ctx, caller, code, func(*db.Tx, *DeviceRequest) error { return nil })
}

// ConfirmDevice allows the program that waits for a code to act as the caller, a GitHub App within the permissions
// that the caller saw, as a text. Errors: those of FindDevice; 409 if the App asks for others now.
func (s *Service) ConfirmDevice(
	ctx context.Context, caller *account.Caller, code, seen string,
) (*DeviceRequest, error) {
	return s.withDevice(ctx, caller, code, func(tx *db.Tx, d *DeviceRequest) error {
		if seen != d.Permissions.String() {
			return Unseen()
		}
		if err := setDevice(tx, d, caller.ID, true); err != nil {
			return err
		}
		by, err := account.ByID(tx, caller.ID)
		if err != nil {
			return err
		}
		told := map[string]any{"scopes": d.Scopes.String(), "application": d.Client}
		if d.GitHubApp {
			delete(told, "scopes")
			told["permissions"] = d.Permissions.OnAccount()
		}
		return account.Record(tx, audit.OAuthCreate, by, audit.Self, told)
	})
}

// DenyDevice refuses a token to the program that waits for a code. Errors: those of FindDevice.
func (s *Service) DenyDevice(ctx context.Context, caller *account.Caller, code string) (*DeviceRequest, error) {
	return s.withDevice(ctx, caller, code, func(tx *db.Tx, d *DeviceRequest) error {
		return setDevice(tx, d, caller.ID, false)
	})
}

// withDevice runs then in the transaction in which it found the request of a code. An unknown code is
// counted.
func (s *Service) withDevice(ctx context.Context, caller *account.Caller, code string,
	then func(*db.Tx, *DeviceRequest) error) (
	found *DeviceRequest, err error,
) {
	if err := mayMakeTokens(caller); err != nil {
		return nil, err
	}
	d, formed := userCodeDigest(code)
	var refusal error
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		found, refusal = nil, nil
		// Wrong codes are counted one after another, and nothing is confirmed while the account's sessions
		// end.
		if err := account.HoldID(tx, caller.ID); err != nil {
			return err
		}
		misses, err := missesOf(tx, caller.ID)
		if err != nil {
			return err
		}
		if misses >= maxMisses {
			refusal = errs.New(errs.TooManyRequests,
				"Too many codes that are none: wait a quarter of an hour.")
			return nil
		}
		if formed {
			found, err = deviceByUserCode(tx, d)
		}
		if found == nil && (err == nil || errs.Is(err, errs.NotFound)) {
			refusal = errs.New(errs.NotFound, "The code is unknown or has expired.")
			return noteMiss(tx, caller.ID)
		}
		if err != nil {
			return err
		}
		return then(tx, found)
	})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}
