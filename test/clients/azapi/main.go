// SPDX-License-Identifier: MIT

// The requests of Terraform's provider azapi: each resource is put, awaited and got as plain JSON by azcore's pipeline, with
// a login by azidentity at the tenant adfs.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	armruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

type object = map[string]any

var (
	endpoint     = os.Getenv("BATCHAID_ENDPOINT")
	subscription = "/subscriptions/" + os.Getenv("AZURE_SUBSCRIPTION_ID")
	pipeline     runtime.Pipeline
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func open() {
	host := cloud.ServiceConfiguration{Endpoint: endpoint, Audience: endpoint}
	options := azcore.ClientOptions{Cloud: cloud.Configuration{
		ActiveDirectoryAuthorityHost: endpoint,
		Services:                     map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: host},
	}}
	login, err := azidentity.NewClientSecretCredential("adfs", os.Getenv("AZURE_CLIENT_ID"),
		os.Getenv("AZURE_CLIENT_SECRET"), &azidentity.ClientSecretCredentialOptions{ClientOptions: options})
	check(err)
	pipeline, err = armruntime.NewPipeline("resource", "v1", login, runtime.PipelineOptions{},
		&arm.ClientOptions{ClientOptions: options})
	check(err)
}

func send(method, path, version string, body any) *http.Response {
	request, err := runtime.NewRequest(context.Background(), method, endpoint+path)
	check(err)
	request.Raw().URL.RawQuery = "api-version=" + version
	request.Raw().Header.Set("Accept", "application/json")
	if body != nil {
		check(runtime.MarshalAsJSON(request, body))
	}
	response, err := pipeline.Do(request)
	check(err)
	return response
}

func do(method, path, version string, body any) any {
	response := send(method, path, version, body)
	if response.StatusCode >= 300 {
		check(runtime.NewResponseError(response))
	}
	poller, err := runtime.NewPoller[any](response, pipeline, nil)
	check(err)
	result, err := poller.PollUntilDone(context.Background(), &runtime.PollUntilDoneOptions{Frequency: time.Second})
	check(err)
	return result
}

// Puts a resource that is not there, and takes it away at the end.
func put(path, version string, body any) func() {
	if status := send("GET", path, version, nil).StatusCode; status != http.StatusNotFound {
		check(fmt.Errorf("%s: %d before it is made", path, status))
	}
	result, _ := do("PUT", path, version, body).(object)
	if result["name"] == nil {
		check(fmt.Errorf("%s is made, but shown without a name: %v", path, result))
	}
	if status := send("GET", path, version, nil).StatusCode; status != http.StatusOK {
		check(fmt.Errorf("%s: %d after it was made", path, status))
	}
	return func() { do("DELETE", path, version, nil) }
}

func main() {
	open()
	name := os.Args[1]
	group := subscription + "/resourceGroups/" + name
	storage := group + "/providers/Microsoft.Storage/storageAccounts/" + name
	batch := group + "/providers/Microsoft.Batch/batchAccounts/" + name
	image := object{"publisher": "debian", "offer": "debian-12", "sku": "12", "version": "latest"}
	machine := object{"nodeAgentSkuId": "batch.node.debian 12", "imageReference": image}
	scale := object{"fixedScale": object{"targetDedicatedNodes": 0}}
	sku := object{"family": "A", "name": "standard"}

	defer put(group, "2024-03-01", object{"location": "eastus"})()
	defer put(storage, "2025-06-01", object{"location": "eastus", "kind": "StorageV2", "sku": object{"name": "Standard_LRS"}})()
	defer put(storage+"/blobServices/default/containers/blobs", "2025-06-01", object{"properties": object{}})()
	do("POST", storage+"/listKeys", "2025-06-01", nil)
	defer put(batch, "2024-07-01", object{"location": "eastus", "properties": object{"autoStorage": object{"storageAccountId": storage}}})()
	defer put(batch+"/pools/pool", "2024-07-01", object{"properties": object{"vmSize": "STANDARD_A1", "scaleSettings": scale,
		"deploymentConfiguration": object{"virtualMachineConfiguration": machine}}})()
	put(group+"/providers/Microsoft.KeyVault/vaults/"+name, "2023-07-01", object{"location": "eastus", "properties": object{
		"tenantId": "ba7c4a1d-0000-4000-8000-00000000ad00", "sku": sku, "accessPolicies": []any{}}})()
	do("POST", subscription+"/providers/Microsoft.KeyVault/locations/eastus/deletedVaults/"+name+"/purge", "2023-07-01", nil)
	fmt.Println("ok azapi")
}
