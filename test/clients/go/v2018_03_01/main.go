// SPDX-License-Identifier: MIT

// The life of a cluster and a job through azure-sdk-for-go's 2018-03-01 package, unmodified.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/services/batchai/mgmt/2018-03-01/batchai"
	"github.com/Azure/go-autorest/autorest/to"

	. "batchaid.test/clients/local"
)

var (
	group    = os.Args[1]
	location = to.StringPtr("northeurope")
	clusters = batchai.NewClustersClientWithBaseURI(Endpoint, Subscription)
	jobs     = batchai.NewJobsClientWithBaseURI(Endpoint, Subscription)
)

func scale(nodes int32) *batchai.ScaleSettings {
	return &batchai.ScaleSettings{Manual: &batchai.ManualScaleSettings{TargetNodeCount: to.Int32Ptr(nodes)}}
}

func waitSteady(ctx context.Context, nodes int32) {
	get := func() (batchai.Cluster, error) { return clusters.Get(ctx, group, "nodes") }
	Until(ctx, get, func(c batchai.Cluster) bool {
		return *c.CurrentNodeCount == nodes && *c.NodeStateCounts.IdleNodeCount == nodes
	})
}

func names(ctx context.Context) (found []string) {
	page := Must(clusters.ListByResourceGroup(ctx, group, "", "", nil))
	for ; page.NotDone(); Check(page.NextWithContext(ctx)) {
		for _, c := range page.Values() {
			found = append(found, *c.Name)
		}
	}
	return found
}

func makeCluster(ctx context.Context) batchai.Cluster {
	share := batchai.AzureFileShareReference{
		AccountName:       to.StringPtr("acct"),
		AzureFileURL:      to.StringPtr("https://acct.file.core.windows.net/out"),
		Credentials:       &batchai.AzureStorageCredentialsInfo{AccountKey: to.StringPtr("c2VjcmV0IGtleQ==")},
		RelativeMountPath: to.StringPtr("out"),
	}
	future := Must(clusters.Create(ctx, group, "nodes", batchai.ClusterCreateParameters{
		Location: location,
		ClusterBaseProperties: &batchai.ClusterBaseProperties{
			VMSize:        to.StringPtr("Standard_D1"),
			ScaleSettings: scale(1),
			UserAccountSettings: &batchai.UserAccountSettings{
				AdminUserName:     to.StringPtr("demo"),
				AdminUserPassword: to.StringPtr("pw-never-shown"),
			},
			NodeSetup: &batchai.NodeSetup{
				MountVolumes: &batchai.MountVolumes{AzureFileShares: &[]batchai.AzureFileShareReference{share}},
			},
		},
	}))
	Check(future.WaitForCompletionRef(ctx, clusters.Client))
	cluster := Must(future.Result(clusters))
	Assert(cluster.ProvisioningState == batchai.ProvisioningStateSucceeded, "%s", cluster.ProvisioningState)
	Assert(*cluster.Location == *location, "location %s", *cluster.Location)
	waitSteady(ctx, 1)
	found := names(ctx)
	Assert(len(found) == 1 && found[0] == "nodes", "listed: %v", found)
	return cluster
}

func runJob(ctx context.Context, cluster batchai.Cluster) {
	future := Must(jobs.Create(ctx, group, "hello", batchai.JobCreateParameters{
		Location: location,
		JobBaseProperties: &batchai.JobBaseProperties{
			Cluster:               &batchai.ResourceID{ID: cluster.ID},
			NodeCount:             to.Int32Ptr(1),
			StdOutErrPathPrefix:   to.StringPtr("$AZ_BATCHAI_MOUNT_ROOT/out"),
			CustomToolkitSettings: &batchai.CustomToolkitSettings{CommandLine: to.StringPtr("echo hello from a job")},
		},
	}))
	Check(future.WaitForCompletionRef(ctx, jobs.Client))
	get := func() (batchai.Job, error) { return jobs.Get(ctx, group, "hello") }
	job := Until(ctx, get, func(j batchai.Job) bool {
		return j.ExecutionState == batchai.Succeeded || j.ExecutionState == batchai.Failed
	})
	Assert(job.ExecutionState == batchai.Succeeded, "%s", job.ExecutionState)
	Assert(*job.ExecutionInfo.ExitCode == 0, "exit code %d", *job.ExecutionInfo.ExitCode)
}

func readOutput(ctx context.Context) {
	files := Must(jobs.ListOutputFilesComplete(ctx, group, "hello", "stdouterr", "", nil, nil))
	text := ""
	for ; files.NotDone(); Check(files.NextWithContext(ctx)) {
		if *files.Value().Name == "stdout.txt" {
			text = Download(*files.Value().DownloadURL)
		}
	}
	Assert(text == "hello from a job\n", "stdout.txt holds %q", text)
}

func cleanUp(ctx context.Context) {
	Must(clusters.Update(ctx, group, "nodes", batchai.ClusterUpdateParameters{
		ClusterUpdateProperties: &batchai.ClusterUpdateProperties{ScaleSettings: scale(0)},
	}))
	waitSteady(ctx, 0)
	job := Must(jobs.Delete(ctx, group, "hello"))
	Check(job.WaitForCompletionRef(ctx, jobs.Client))
	cluster := Must(clusters.Delete(ctx, group, "nodes"))
	Check(cluster.WaitForCompletionRef(ctx, clusters.Client))
	found := names(ctx)
	Assert(len(found) == 0, "left: %v", found)
	gone, err := clusters.Get(ctx, group, "nodes")
	Assert(err != nil && gone.StatusCode == 404, "after its deletion: %v", err)
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	authorizer := Must(Authorizer())
	clusters.Authorizer, jobs.Authorizer = authorizer, authorizer
	cluster := makeCluster(ctx)
	runJob(ctx, cluster)
	readOutput(ctx)
	cleanUp(ctx)
	fmt.Println("ok go 2018-03-01")
}
