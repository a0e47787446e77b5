// SPDX-License-Identifier: MIT
// The life of a secret through azsecrets and azidentity, with their defaults: secrets VAULT-URL
package main

import (
	"context"
	"log"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/security/keyvault/azsecrets"
)

var ctx = context.Background()

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func set(client *azsecrets.Client, value string) string {
	made := must(client.SetSecret(ctx, "go", azsecrets.SetSecretParameters{Value: &value}, nil))
	return made.ID.Version()
}

func expect(client *azsecrets.Client, version, value string) {
	if got := *must(client.GetSecret(ctx, "go", version, nil)).Value; got != value {
		log.Fatalf("version %q is %q, not %q", version, got, value)
	}
}

func main() {
	credential := must(azidentity.NewEnvironmentCredential(&azidentity.EnvironmentCredentialOptions{DisableInstanceDiscovery: true}))
	client := must(azsecrets.NewClient(os.Args[1], credential, nil))
	first := set(client, "one")
	set(client, "two")
	expect(client, "", "two")
	expect(client, first, "one")
	n := 0
	for pager := client.NewListSecretPropertiesPager(nil); pager.More(); {
		n += len(must(pager.NextPage(ctx)).Value)
	}
	if n != 1 {
		log.Fatalf("%d secrets are listed, not 1", n)
	}
	must(client.DeleteSecret(ctx, "go", nil))
	must(client.PurgeDeletedSecret(ctx, "go", nil))
	if _, err := client.GetSecret(ctx, "go", "", nil); err == nil {
		log.Fatal("the secret is still there")
	}
}
