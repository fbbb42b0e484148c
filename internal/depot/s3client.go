package depot

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"
)

// maxTries is how often a request is sent at most, if the service answers with a temporary error.
const maxTries = 3

// amazon is the endpoint of a bucket whose address has none.
const amazon = "https://s3.amazonaws.com"

// newS3 returns the bucket of an address. The keys come from the environment, from the files of the AWS tools, or
// from the role of the machine or container, and are read again when they end or are refused.
func newS3(a *address) (*s3, error) {
	endpoint := a.endpoint
	if endpoint == "" {
		endpoint = amazon
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	s := &s3{bucket: a.bucket, prefix: a.prefix, direct: a.direct}
	switch key, isKMS := strings.CutPrefix(a.sse, "kms:"); {
	case isKMS:
		if s.sse, err = encrypt.NewSSEKMS(key, nil); err != nil {
			return nil, err
		}
	case a.sse != "":
		s.sse = encrypt.NewSSE()
	}
	s.keys = credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{},
		&credentials.IAM{Client: &http.Client{Timeout: answerTime / 2}, Region: a.region},
	})
	lookup := minio.BucketLookupAuto
	switch a.style {
	case "path":
		lookup = minio.BucketLookupPath
	case "host":
		lookup = minio.BucketLookupDNS
	}
	s.client, err = minio.NewCore(u.Host, &minio.Options{Creds: s.keys, Secure: u.Scheme == "https",
		Transport: transport(), Region: a.region, BucketLookup: lookup, MaxRetries: maxTries})
	return s, err
}

// transport is for one bucket. Answers are not unpacked: what is stored compressed stays so.
func transport() http.RoundTripper {
	dial := &net.Dialer{Timeout: answerTime / 2, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dial.DialContext,
		MaxIdleConnsPerHost:   maxRequests,
		IdleConnTimeout:       time.Minute,
		TLSHandshakeTimeout:   answerTime / 2,
		ResponseHeaderTimeout: time.Minute,
		DisableCompression:    true,
	}
}
