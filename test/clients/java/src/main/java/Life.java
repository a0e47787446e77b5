// SPDX-License-Identifier: MIT
// The life of a cluster and a job through azure-mgmt-batchai, unmodified.

import com.microsoft.azure.AzureEnvironment;
import com.microsoft.azure.CloudException;
import com.microsoft.azure.credentials.ApplicationTokenCredentials;
import com.microsoft.azure.management.batchai.BatchAICluster;
import com.microsoft.azure.management.batchai.BatchAIExperiment;
import com.microsoft.azure.management.batchai.BatchAIJob;
import com.microsoft.azure.management.batchai.BatchAIWorkspace;
import com.microsoft.azure.management.batchai.ExecutionState;
import com.microsoft.azure.management.batchai.OutputFile;
import com.microsoft.azure.management.batchai.ProvisioningState;
import com.microsoft.azure.management.batchai.implementation.BatchAIManager;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

public class Life {
    private final String group;
    private final BatchAIManager manager;

    private Life(String group) {
        Map<String, String> env = System.getenv();
        String endpoint = env.get("BATCHAID_ENDPOINT");
        AzureEnvironment here = new AzureEnvironment(Map.of(
            "resourceManagerEndpointUrl", endpoint + "/",
            "managementEndpointUrl", endpoint + "/",
            "activeDirectoryEndpointUrl", endpoint + "/",
            "activeDirectoryResourceId", endpoint + "/"));
        ApplicationTokenCredentials credentials = new ApplicationTokenCredentials(
            env.get("AZURE_CLIENT_ID"), env.get("AZURE_TENANT_ID"), env.get("AZURE_CLIENT_SECRET"), here);
        this.group = group;
        this.manager = BatchAIManager.authenticate(credentials, env.get("AZURE_SUBSCRIPTION_ID"));
    }

    private static void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    private static <T> T until(Supplier<T> get, Predicate<T> done) throws InterruptedException {
        for (;;) {
            T seen = get.get();
            if (done.test(seen)) {
                return seen;
            }
            Thread.sleep(50);
        }
    }

    private void steady(BatchAIWorkspace workspace, int nodes) throws InterruptedException {
        until(() -> workspace.clusters().getByName("nodes"),
            c -> c.currentNodeCount() == nodes && c.nodeStateCounts().idleNodeCount() == nodes);
    }

    private BatchAICluster makeCluster(BatchAIWorkspace workspace) throws InterruptedException {
        BatchAICluster cluster = workspace.clusters().define("nodes")
            .withVMSize("Standard_D1")
            .withUserName("demo")
            .withPassword("pw-never-shown")
            .withManualScale(1)
            .create();
        check(cluster.provisioningState().equals(ProvisioningState.SUCCEEDED), "cluster not made");
        check(cluster.creationTime() != null, "no creation time");
        steady(workspace, 1);
        List<BatchAICluster> listed = workspace.clusters().list();
        check(listed.size() == 1 && listed.get(0).name().equals("nodes"), "cluster not listed");
        return cluster;
    }

    private BatchAIJob runJob(BatchAIWorkspace workspace, BatchAICluster cluster) throws Exception {
        BatchAIExperiment experiment = workspace.experiments().define("first").create();
        experiment.jobs().define("hello")
            .withExistingCluster(cluster)
            .withNodeCount(1)
            .withStdOutErrPathPrefix("$AZ_BATCHAI_JOB_MOUNT_ROOT/out")
            .defineCustomToolkit().withCommandLine("echo hello from a job").attach()
            .defineAzureFileShare()
                .withStorageAccountName("acct")
                .withAzureFileUrl("https://acct.file.core.windows.net/out")
                .withRelativeMountPath("out")
                .withAccountKey("c2VjcmV0IGtleQ==")
                .attach()
            .create();
        BatchAIJob job = until(() -> experiment.jobs().getByName("hello"),
            j -> j.executionState().equals(ExecutionState.SUCCEEDED)
                || j.executionState().equals(ExecutionState.FAILED));
        check(job.executionState().equals(ExecutionState.SUCCEEDED), "job failed");
        check(job.executionInfo().exitCode() == 0, "exit code");
        return job;
    }

    private static void readOutput(BatchAIJob job) throws Exception {
        for (OutputFile file : job.listFiles("stdouterr")) {
            if (!file.name().equals("stdout.txt")) {
                continue;
            }
            try (InputStream in = new URL(file.downloadUrl()).openStream()) {
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                check(text.equals("hello from a job\n"), "stdout is " + text);
            }
            return;
        }
        throw new AssertionError("no stdout.txt");
    }

    private void cleanUp(BatchAIWorkspace workspace, BatchAICluster cluster) throws InterruptedException {
        cluster.update().withManualScale(0).apply();
        steady(workspace, 0);
        workspace.experiments().deleteByName("first");
        workspace.clusters().deleteByName("nodes");
        check(workspace.clusters().list().isEmpty(), "cluster still listed");
        try {
            manager.inner().clusters().get(group, "java", "nodes");
            check(manager.inner().clusters().get(group, "java", "nodes") == null, "cluster still there");
        } catch (CloudException e) {
            check(e.body().code().equals("ClusterNotFound"), e.body().code());
        }
    }

    public static void main(String[] arguments) throws Exception {
        Life life = new Life(arguments[0]);
        BatchAIWorkspace workspace = life.manager.workspaces().define("java")
            .withRegion("northeurope")
            .withExistingResourceGroup(life.group)
            .create();
        BatchAICluster cluster = life.makeCluster(workspace);
        readOutput(life.runJob(workspace, cluster));
        life.cleanUp(workspace, cluster);
        System.out.println("ok java 2018-05-01");
        System.exit(0); // the SDK's thread pools would live on for a minute
    }
}
