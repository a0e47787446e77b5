// SPDX-License-Identifier: MIT

// Package local points the SDK's clients at the daemon that `batchaid env` describes.
package local

import (
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/Azure/go-autorest/autorest"
	"github.com/Azure/go-autorest/autorest/adal"
)

var (
	Endpoint     = os.Getenv("BATCHAID_ENDPOINT")
	Subscription = os.Getenv("AZURE_SUBSCRIPTION_ID")
)

func Authorizer() (autorest.Authorizer, error) { return AuthorizerFor(Endpoint) }

// AuthorizerFor has tokens for a resource.
func AuthorizerFor(resource string) (autorest.Authorizer, error) {
	config, err := adal.NewOAuthConfig(os.Getenv("AZURE_AUTHORITY_HOST"), os.Getenv("AZURE_TENANT_ID"))
	if err != nil {
		return nil, err
	}
	token, err := adal.NewServicePrincipalToken(
		*config, os.Getenv("AZURE_CLIENT_ID"), os.Getenv("AZURE_CLIENT_SECRET"), resource)
	if err != nil {
		return nil, err
	}
	return autorest.NewBearerAuthorizer(token), nil
}

// Must ends the program on an error.
func Must[T any](value T, err error) T {
	Check(err)
	return value
}

func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Assert ends the program unless it holds.
func Assert(holds bool, format string, values ...any) {
	if !holds {
		log.Fatalf(format, values...)
	}
}

// Until calls get until what it returns is done.
func Until[T any](ctx context.Context, get func() (T, error), done func(T) bool) T {
	for {
		seen := Must(get())
		if done(seen) {
			return seen
		}
		select {
		case <-ctx.Done():
			log.Fatal(ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Download returns what a URL leads to.
func Download(url string) string {
	reply := Must(http.Get(url))
	defer reply.Body.Close()
	Assert(reply.StatusCode == 200, "%s: %s", url, reply.Status)
	return string(Must(io.ReadAll(reply.Body)))
}
