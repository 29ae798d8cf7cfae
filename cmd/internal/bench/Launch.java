import com.thoughtworks.xstream.XStream;
import org.apache.jmeter.JMeter;
import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.util.JMeterUtils;

// Launch starts JMeter 2.13 with an XStream that lets its own classes through.
public class Launch {
    public static void main(String[] args) throws Exception {
        JMeterUtils.setJMeterHome(System.getProperty("jmeter.home"));
        JMeterUtils.loadJMeterProperties(JMeterUtils.getJMeterBinDir() + "/jmeter.properties");
        for (String saver : new String[] {"JMXSAVER", "JTLSAVER"}) {
            var field = SaveService.class.getDeclaredField(saver);
            field.setAccessible(true);
            ((XStream) field.get(null)).allowTypesByWildcard(new String[] {"**"});
        }
        new JMeter().start(args);
    }
}
