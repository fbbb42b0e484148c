package openid

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/go-jose/go-jose/v4"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/oauth"
	"arbor/internal/web"
)

// idToken is the payload of an ID token (OpenID Connect Core 1.0, 2).
type idToken struct {
	claims
	Issuer   string   `json:"iss"`
	Audience string   `json:"aud"` // the client id of the App
	Expires  int64    `json:"exp"`
	Issued   int64    `json:"iat"`
	AuthTime int64    `json:"auth_time"` // when the user last showed who it is
	Nonce    string   `json:"nonce,omitempty"`
	Level    string   `json:"acr,omitempty"`
	Methods  []string `json:"amr,omitempty"`
	AtHash   string   `json:"at_hash"`
}

// IDToken returns the signed ID token of a sign-in.
func (s *Service) IDToken(ctx context.Context, who *oauth.SignIn) (string, error) {
	k, err := s.signer(ctx)
	if err != nil {
		return "", err
	}
	i := web.From(ctx)
	t, err := db.Get(ctx, s.db, func(tx *db.Tx) (*idToken, error) {
		c, err := claimsOf(tx, &account.Caller{ID: who.Account, OAuthApp: who.App.ID}, who.Scopes, i)
		if err != nil {
			return nil, err
		}
		now := tx.Now.Time()
		return &idToken{claims: *c, Issuer: i.Site, Audience: who.App.ClientID, Issued: now.Unix(),
			Expires: now.Add(idTokenLife).Unix(), AuthTime: who.Shown.At.Time().Unix(), Nonce: who.Nonce,
			Level: who.Shown.Level(), Methods: who.Shown.Methods(), AtHash: hashOf(who.Token)}, nil
	})
	if err != nil {
		return "", err
	}
	return k.sign(t)
}

// sign returns a JWT with the payload.
func (k *key) sign(payload any) (string, error) {
	private, err := k.parsed()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm,
		Key: jose.JSONWebKey{Key: private, KeyID: k.id}}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(text)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// hashOf is the at_hash of an access token: the left half of its SHA-256 (OpenID Connect Core 1.0, 3.1.3.6).
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:sha256.Size/2])
}
